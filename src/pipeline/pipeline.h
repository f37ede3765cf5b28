// One device at work: a ring of slots, each with its piece of pinned memory
// and of device memory, so that upload, kernels and download of different
// chunks run at the same time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>

#include "pipeline/slot.h"
#include "thread/bell.h"
#include "work/device_memory.h"
#include "work/key_numbers.h"

namespace lanecrypt::schedule {

constexpr uint64_t kChunkBytes = 16 << 20;
// Most of what comes has a few KiB: such a slot stays small.
constexpr uint64_t kSmallSlotBytes = 1 << 20;

// What came back from the device.
struct Retired {
  std::vector<RequestPointer> requests;  // as of Chunk
  std::vector<ChunkPiece> pieces;
  Status status;                   // when not OK, the host output of no piece is of use
  std::vector<cpu::AeadSum> sums;  // of authenticated modes, one for each piece
  // The status says that the device gives wrong output.
  bool gave_wrong_output = false;
};

struct PipelineOptions {
  uint64_t pinned_bytes = 256 << 20;  // bounds the ring
  lc_verify verify = LC_VERIFY_SAMPLED;
  // A device that ends nothing for so long is given up. 0: a minute, or ten for
  // one that is no GPU.
  std::chrono::milliseconds time_limit{0};
  // Takes the way of the caller's memory that costs least CPU time, not the
  // quickest.
  bool saves_cpu = false;
  // For tests: of what comes after the self-test, and of many chunks in few bytes.
  bool skip_self_test = false;
  uint64_t least_chunk_bytes = 4 << 20, most_chunk_bytes = kChunkBytes;
};

// The device's thread alone.
class Pipeline {
 public:
  // At least two slots are made, as they are needed. Rings `bell` when another
  // thread has brought a chunk further.
  Pipeline(device::Device &device, const LaunchForm &form, const PipelineOptions &options,
           const PinnedMemory &pinned, Movers &movers, Bell &bell);
  ~Pipeline();
  // Makes the streams. First of all calls.
  Status open();

  // Of a chunk that begins with such a job, where so many bytes wait.
  ChunkLimits limits(const CipherJob &job, uint64_t waiting_bytes) const;
  uint32_t max_pieces(const CipherKind &kind) const;
  // Of chunks whose kernels leave most of the device idle, and which need nothing of the
  // ring, more are under way together than the ring has room for.
  bool has_free_slot();
  bool is_idle() const { return under_way_.empty(); }

  // Starts a chunk in a free slot. When that fails, or what follows, the chunk
  // is under way all the same, and retire() says what failed.
  void start(Chunk chunk);
  // The same for messages on the device.
  void start(DeviceChunk chunk);
  // Does what can be done now without waiting; whether there was anything.
  bool advance();
  // Whether retire() would not wait.
  bool oldest_is_over();
  // Whether the bell will not ring: only the device is waited for, by retire().
  bool waits_for_device_alone() const;
  // Looks for a moment whether the device brings the oldest to its end.
  bool poll_oldest();
  // Waits for the bell; gives the device up where nothing has ended for too long.
  void wait();
  // Gives what only the device's thread waits for to others, so that the bell
  // rings for it too.
  void hand_over();
  // Waits for the oldest chunk; its output is then where it belongs.
  Retired retire();
  // To be called at the end, when it is idle: until no thread of others has anything
  // to do with it.
  void await_copies() { host_.await_copies(); }
  // It does not end, and what it was given must stay for ever: nothing of this,
  // nor of the device, may be freed.
  bool is_stuck() const { return is_stuck_; }

  // Zeroes memory that nothing under way uses.
  void wipe(const device::Buffer &buffer);

  uint64_t launches() const;

 private:
  Slot &take_slot();
  Status prepare(Slot &slot);
  Status gather(Slot &slot);
  void issue(Slot &slot);
  Status compute(Slot &slot);
  Result<device::Stream *> stream_for(Slot &slot);
  Status bring_back(Slot &slot);
  Status start_download(Slot &slot);
  Status begin_on_device(Slot &slot, DeviceChunk &chunk);
  size_t launch_for(const CipherKind &kind) const;
  void choose_launch(Slot &slot);
  Status launch_work(device::Stream &stream, Slot &slot);
  void keep_keystream(Slot &slot);
  Status continue_chain(Slot &slot);
  // In pipeline_memory.cpp:
  static bool leaves_room(const Slot &slot);
  bool make_slot_beside();
  void take_over_ring(Slot &slot);
  Status allocate(Slot &slot);
  Status fit(std::unique_ptr<device::Buffer> &buffer, device::MemoryKind kind, uint64_t bytes);
  void wipe_all();
  // In pipeline_trust.cpp:
  Status check_output(Slot &slot);
  void give_up(Slot &slot);
  bool is_overdue() const;
  std::chrono::milliseconds limit() const;
  Status finish(device::Stream &stream);
  Status stuck() const;
  // Has `waiter` wait, or where the device is one thread's alone, wait().
  void await(Workers &waiter, std::function<void()> wait);
  void await_kernels(Slot &slot);
  void await_output(Slot &slot);
  void finish_output(Slot &slot);
  void move_to(Slot &slot, Stage stage);
  void fail(Slot &slot, Status status);
  void add_times(Slot &slot);

  using Clock = std::chrono::steady_clock;

  device::Device &device_;
  const PipelineOptions options_;
  const std::vector<std::unique_ptr<ChunkLaunch>> launches_;
  Bell &bell_;
  HostSide host_;
  std::unique_ptr<device::Stream> upload_, compute_, download_;
  std::vector<std::unique_ptr<Slot>> slots_;
  size_t ring_slots_;  // so many may have memory of the ring
  bool may_make_more_ = true;
  std::deque<Slot *> free_, under_way_;
  uint64_t chunks_ = 0;
  // Of lay_out(): the keys of one request in one chunk.
  KeyNumbers key_numbers_;
  verify::Dice dice_;
  Clock::time_point waiting_since_;
  bool is_stuck_ = false;
  // Wait for the kernels, and for the output, of one chunk after the other.
  Workers kernel_waiter_, output_waiter_;
  std::deque<std::function<void()>> own_waits_;  // in order
};

}  // namespace lanecrypt::schedule
