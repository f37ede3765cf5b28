// The caller's bytes of one chunk, as runs that are contiguous both in host
// memory and in the chunk's memory on the device.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/device.h"
#include "pipeline/pinned_memory.h"

namespace lanecrypt::schedule {

struct HostRun {
  uint8_t *host;  // of an input it is only read
  uint64_t at;    // in the chunk
  uint64_t length;
  bool must_stage;   // never direct
  bool direct;       // the device copies from or to `host` itself
  uint64_t ring_at;  // otherwise: in the chunk's pinned memory
};

// One side of a chunk, input or output.
class HostRuns {
 public:
  void clear();
  // In order of `at`. must_stage: output that lies on input, where no device may
  // write, since it may be lost half way.
  void add(const uint8_t *host, uint64_t at, uint64_t length, bool must_stage = false);

  // Long runs in memory that is pinned already are direct.
  void find_pinned(const PinnedMemory &pinned);
  // Of the runs, not direct, that may be and are worth pinning.
  uint64_t bytes_to_pin() const;
  // Pins the whole pages of such runs, which are then direct. After an error
  // all is as before, but for `pages`, which the caller lets go.
  Status pin(device::Device &device, std::vector<std::unique_ptr<device::Buffer>> *pages);

  // Gives all that is not direct its place in the ring; how many bytes that is.
  uint64_t lay_in_ring();
  uint64_t staged_bytes() const;
  bool has_direct() const;

  // The copies between host and ring, in parts of about equal size.
  size_t count_parts() const { return parts_.size(); }
  void copy_in(uint8_t *ring, size_t part) const;
  void copy_out(const uint8_t *ring, size_t part) const;

  // Reads what came back, from `at` in the chunk on, wherever it lies.
  void read(uint64_t at, uint64_t bytes, const uint8_t *ring, uint8_t *to) const;
  // Where it lies, for what is not direct.
  const uint8_t *find_in_ring(uint64_t at, const uint8_t *ring) const;

  // The copies between host or ring and the device.
  Status upload(device::Stream &stream, const device::Buffer &to, const device::Buffer *ring) const;
  Status download(device::Stream &stream, const device::Buffer &from,
                  const device::Buffer *ring) const;

 private:
  struct Copy {
    uint8_t *host;
    uint64_t ring_at, length;
  };
  std::vector<HostRun>::const_iterator find(uint64_t at) const;
  template <typename Transfer>
  Status transfer(Transfer one) const;

  std::vector<HostRun> runs_;
  std::vector<Copy> copies_;
  std::vector<size_t> parts_;  // the end of each in copies_
};

}  // namespace lanecrypt::schedule
