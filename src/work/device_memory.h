// The memory of one device that callers have from lc_alloc_device(). Also cuts requests whose
// messages are there.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "work/chunk.h"

namespace lanecrypt::runtime {

// Where an address lies: in a buffer or, if `buffer` is nullptr, at `offset` from the null
// address of a device with flat addresses.
struct DeviceAddress {
  const device::Buffer *buffer = nullptr;
  uint64_t offset = 0;
};

// For the device's thread only, or for who has the use of the device in its place.
class DeviceMemory {
 public:
  explicit DeviceMemory(device::Device &device) : device_(device) {}

  Result<uint64_t> allocate(uint64_t bytes);
  Status free(uint64_t address);
  // Finds `bytes` from an address on, for a kernel.
  Result<DeviceAddress> resolve(uint64_t address, uint64_t bytes) const;
  // The same for a copy, which always has a buffer. `view` keeps it.
  Result<DeviceAddress> resolve_to_copy(uint64_t address, uint64_t bytes,
                                        std::unique_ptr<device::Buffer> *view) const;

 private:
  Status find(uint64_t address, uint64_t bytes, DeviceAddress *resolved) const;

  device::Device &device_;
  std::map<uint64_t, std::unique_ptr<device::Buffer>> buffers_;
};

// Messages in the device's memory, as many as one launch takes.
struct DeviceChunk {
  RequestPointer request;
  std::vector<Piece> pieces;
  ChunkWork work;
  // CBC decryption in place reads what it overwrites. So its one piece, with the block
  // before it, is first copied to scratch memory: scratch_bytes from `scratch_from` to
  // `scratch_offset`.
  uint64_t scratch_bytes = 0, scratch_offset = 0;
  DeviceAddress scratch_from;
  std::unique_ptr<device::Buffer> scratch_view;
};

// Takes the next pieces off request->todo, and counts one chunk under way.
Result<DeviceChunk> cut_device_chunk(const RequestPointer &request, const DeviceMemory &memory,
                                     uint32_t max_pieces, uint64_t scratch_bytes);

}  // namespace lanecrypt::runtime
