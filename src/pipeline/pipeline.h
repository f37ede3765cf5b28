// One device at work. It has a ring of slots, each with its own pinned memory and device
// memory, so that upload, kernels and download of different chunks run at the same time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <optional>

#include "pipeline/slot.h"
#include "thread/auto_reset_event.h"
#include "work/device_memory.h"
#include "work/key_numbers.h"

namespace lanecrypt::runtime {

constexpr uint64_t kChunkBytes = 16 << 20;
// Most requests have a few KiB. A slot that has had no more stays small.
constexpr uint64_t kSmallSlotBytes = 1 << 20;

// A chunk that came back from the device.
struct Retired {
  std::vector<RequestPointer> requests;  // as in Chunk
  std::vector<ChunkPiece> pieces;
  Status status;  // if not OK, no piece's output in host memory is of use
  // In authenticated modes, one for each piece; none where tags stay on the device.
  std::vector<cpu::AeadSum> sums;
  // The status says that the device gives wrong output.
  bool gave_wrong_output = false;
};

struct PipelineOptions {
  uint64_t pinned_bytes = 256 << 20;  // the most for the ring
  lc_verify verify = LC_VERIFY_SAMPLED;
  // A device that ends nothing for so long is given up. 0: a minute, or ten minutes for a
  // device that is no GPU.
  std::chrono::milliseconds time_limit{0};
  // Brings the caller's memory to the device by the way that costs least CPU time, not by the
  // quickest.
  bool saves_cpu = false;
  // For tests of what comes after the self-test, and of many chunks in few bytes.
  bool skip_self_test = false;
  uint64_t least_chunk_bytes = 4 << 20, most_chunk_bytes = kChunkBytes;
};

// For the device's thread only, or for who has the use of the device in its place.
class Pipeline {
 public:
  // At least two slots are made, as they are needed. Sets `wake_event` when another
  // thread has brought a chunk further.
  Pipeline(device::Device &device, const LaunchForm &form, const PipelineOptions &options,
           const PinnedMemory &pinned, CopyThreads &copy_threads, AutoResetEvent &wake_event);
  ~Pipeline();
  // Makes the streams. Must be the first call.
  Status open();

  // The limits of a chunk that begins with such a job, when so many bytes wait.
  ChunkLimits limits(const CipherJob &job, uint64_t waiting_bytes) const;
  uint32_t max_pieces(const CipherKind &kind) const;
  // More chunks than the ring has room for may be under way together, if their kernels leave
  // most of the device idle and they need no memory of the ring. Chunks in a stream of the
  // caller's have slots of their own: they wait for the caller's work, and nothing else may
  // wait for that.
  bool has_free_slot(bool in_callers_stream);
  bool is_idle() const { return under_way_.empty() && in_streams_.empty(); }
  // Whether all that is under way are chunks in streams whose callers look after their end
  // (Request::poll_until_done).
  bool has_owner() const;
  bool has_any_owner() const;  // any of it
  // Whether retire() would take one of those in callers' streams that did not end well.
  bool has_failed_in_stream() const;

  // Starts a chunk in a free slot. If this or a later step fails, the chunk is under way all
  // the same, and retire() says what failed.
  void start(Chunk chunk);
  // The same for messages in the device's memory. Returns what failed at once, too. Throws for
  // want of memory, but then nothing was begun.
  Status start(DeviceChunk chunk);
  // Does what can be done now without waiting. Returns whether there was anything.
  bool advance();
  // Whether retire() would not wait.
  bool has_one_over() { return find_over() != nullptr; }
  // Whether nothing will set the event, because only the device is waited for, in retire().
  bool waits_for_device_alone() const;
  // Watches for a moment whether the device ends the oldest chunk.
  bool poll_oldest();
  // Waits for what only this thread can wait for. False if there is nothing.
  bool wait_by_itself();
  // How long to wait for the event; and what to do then: gives the device up if nothing has ended
  // for too long.
  std::chrono::milliseconds patience() const;
  void give_up_if_overdue();
  // Lets other threads wait for what only the device's thread waits for, so that the event
  // is set for that too; but not for what callers look after.
  void hand_over() { hand_over(false); }
  // Waits for the oldest chunk, or one in a stream of the caller's. Its output is then where it
  // belongs.
  Retired retire();
  // The end of what is under way of a request in a stream of the caller's; nullptr if nothing is.
  // No other chunk's end, however long the caller has it.
  std::shared_ptr<device::Event> end_in_stream(const Request &request) const;
  // A chunk of it that has ended well, for any thread that has the use of the device.
  std::optional<Retired> retire_in_stream(const Request &request);
  // Returns the request of the oldest of more than a few chunks in streams, if its caller polls it.
  // Otherwise nullptr.
  RequestPointer oldest_owned() const;
  // Waits until no other thread has anything to do with this pipeline. Called at the end, when
  // it is idle.
  void await_copies() { host_.await_copies(); }
  // The device does not end its work, and all that it was given must stay for ever: nothing of
  // this or of the device may be freed.
  bool is_stuck() const { return is_stuck_; }

  // Zeroes memory that no chunk under way uses.
  void wipe(const device::Buffer &buffer);

  uint64_t launches() const;

 private:
  Slot &take_slot();
  Slot &begin(Slot &slot);
  static bool is_over(Slot &slot);
  Slot *find_over();
  Slot &await_over();
  Retired take_back(Slot &slot) noexcept;
  void wait();
  void hand_over(bool all);
  void give_slot_back(Slot &slot);
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
  Status keep_keystream(Slot &slot) noexcept;
  Status continue_chain(Slot &slot);
  // In pipeline_in_streams.cpp:
  static bool owns(const Slot *slot);
  Slot &take_stream_slot();
  Result<device::Stream *> stream_on_device(Slot &slot, Request &request);
  void await_in_stream(Workers &waiter, Slot &slot);
  // In pipeline_memory.cpp:
  static bool leaves_room(const Slot &slot);
  bool make_concurrent_slot();
  void take_over_ring(Slot &slot);
  Status allocate(Slot &slot);
  Status fit(std::unique_ptr<device::Buffer> &buffer, device::MemoryKind kind, uint64_t bytes);
  void wipe_all();
  // In pipeline_trust.cpp:
  Status check_output(Slot &slot) noexcept;
  Status check_output_of(Slot &slot);
  void give_up(Slot &slot);
  bool is_overdue() const;
  Status finish(device::Stream &stream);
  Status stuck() const;
  // Lets `waiter` call wait(). If the device may be used by one thread only, wait() calls it.
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
  AutoResetEvent &wake_event_;
  HostTransfer host_;
  std::unique_ptr<device::Stream> upload_, compute_, download_;
  std::vector<std::unique_ptr<Slot>> slots_;
  size_t ring_slots_;  // how many slots may have memory of the ring
  bool may_make_more_ = true;
  std::deque<Slot *> free_, under_way_;
  // Those of chunks in streams of the caller's, and the chunks, in the order in which they
  // began.
  std::vector<std::unique_ptr<Slot>> stream_slots_;
  std::vector<Slot *> free_in_streams_;
  std::deque<Slot *> in_streams_;
  uint64_t chunks_ = 0;
  // For lay_out(): the numbers of one request's keys in one chunk.
  KeyNumbers key_numbers_;
  verify::RandomSampler sampler_;
  Clock::time_point waiting_since_;
  bool is_stuck_ = false;
  // These wait for the kernels, and for the output, of one chunk after the other.
  Workers kernel_waiter_, output_waiter_;
  Workers stream_waiters_;                       // the same for streams of the caller's
  std::deque<std::function<void()>> own_waits_;  // what the device's thread waits for, in order
};

}  // namespace lanecrypt::runtime
