// One device at work: a ring of slots, each with its piece of pinned memory
// and of device memory, so that upload, kernels and download of different
// chunks run at the same time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "schedule/device_memory.h"
#include "schedule/pinned_memory.h"

namespace lanecrypt::schedule {

constexpr uint64_t kChunkBytes = 16 << 20;

// What came back from the device.
struct Retired {
  std::vector<ChunkPiece> pieces;
  Status status;                   // when not OK, the host output of no piece was touched
  std::vector<cpu::AeadSum> sums;  // of authenticated modes, one for each piece
};

// The device's thread alone.
class Pipeline {
 public:
  // pinned_bytes bounds the ring; at least two slots are made, as they are
  // needed.
  Pipeline(device::Device &device, AesForm form, AesGrid grid, uint64_t pinned_bytes,
           const PinnedMemory &pinned);
  ~Pipeline();
  // Makes the streams. First of all calls.
  Status open();

  ChunkLimits limits(const CipherKind &kind) const;
  bool has_free_slot() const { return !free_.empty(); }
  bool is_idle() const { return under_way_.empty(); }

  // Starts a chunk in a free slot. On failure (false) the chunk is still under
  // way, and retire() says what failed.
  bool start(Chunk chunk);
  // The same for messages on the device.
  bool start(DeviceChunk chunk);
  // Whether retire() would not wait.
  bool oldest_is_done();
  // Waits for the oldest chunk and writes its output to the host.
  Retired retire();

  // Zeroes memory that nothing under way uses.
  void wipe(const device::Buffer &buffer);

  uint64_t launches() const { return aes_.launches() + aead_.launches(); }

 private:
  struct Slot;

  Status prepare(Slot &slot);
  Status begin(Slot &slot);
  Status begin_on_device(Slot &slot, DeviceChunk &chunk);
  void lay_out(Slot &slot);
  Status upload_work(device::Stream &stream, Slot &slot);
  Status launch_work(device::Stream &stream, Slot &slot);
  void gather(Slot &slot);
  void scatter(Slot &slot);
  void keep_keystream(Slot &slot);
  Status upload_data(Slot &slot);
  Status download_data(Slot &slot);
  Status continue_chain(Slot &slot);
  void add_times(Slot &slot);
  Slot &take_slot();

  device::Device &device_;
  AesLaunch aes_;
  AeadLaunch aead_;
  const PinnedMemory &pinned_;
  std::unique_ptr<device::Stream> upload_, compute_, download_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::deque<Slot *> free_, under_way_;
};

}  // namespace lanecrypt::schedule
