// The host's side of a device's pipeline. On its own threads it brings a chunk's input to
// where the device can copy it, and its output to where it belongs.
//
// The caller's memory, if it is not pinned, goes one of two ways. One thread pins it where it
// is; drivers pin one piece after the other. Or several threads copy it through a pinned ring.
// Pinning costs a quarter of the CPU time, but more threads do not make it faster. A chunk
// goes the way that is sooner or, if asked for, the one that costs less. Output that
// overwrites its input is always copied, and only once it is known to be right.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "pipeline/driver_turn.h"
#include "pipeline/host_spans.h"
#include "thread/workers.h"

namespace lanecrypt::runtime {

// Threads that copy, for all devices of a process.
struct CopyThreads {
  CopyThreads();
  Workers workers;
  std::atomic<uint64_t> waiting_bytes = 0;
};

// What one chunk needs of the host's threads and memory: its HostSpans, which of them are pinned or
// copied, and the memory for that. Parameters of this type are named `share`.
struct ChunkTransfer {
  HostSpans in, out;
  bool may_pin = false;     // set by the caller
  bool stages_all = false;  // set by the caller: all goes by the ring, laid out as on the device
  bool pin_in = false, pin_out = false;  // what was chosen
  std::vector<std::unique_ptr<device::Buffer>> pages;
  std::unique_ptr<device::Buffer> ring_in, ring_out;
  uint64_t ring_in_bytes = 0, ring_out_bytes = 0;
};

// Counts the copies that other threads make for one device, until these threads have also
// told that they are done.
class Copies {
 public:
  void begin();
  void end();
  void await_none();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t count_ = 0;
};

// For the device's thread only, except where noted.
class HostTransfer {
 public:
  // saves_cpu: pins everything that can be pinned.
  HostTransfer(device::Device &device, const PinnedMemory &pinned, CopyThreads &copy_threads,
               bool saves_cpu);

  // Chooses which input and output of `share` are pinned, and which are copied through the ring.
  // All spans must have been added to share.in and share.out.
  void plan(ChunkTransfer &share);
  // Whether copying it takes less time than waking another thread.
  static bool is_small(const HostSpans &runs);

  // Pins what was chosen. Then calls done(status) on another thread.
  bool must_pin(const ChunkTransfer &share) const { return share.pin_in || share.pin_out; }
  void pin(ChunkTransfer &share, std::function<void(Status)> done);
  // After an error of pin(): copies everything instead.
  void copy_instead(ChunkTransfer &share);
  // Lays out what goes through the ring. Called when nothing is left to pin.
  void lay_in_ring(ChunkTransfer &share);
  // Copies the input to the ring: at once, or on other threads, which then call done().
  static void gather_now(const ChunkTransfer &share);
  void gather(const ChunkTransfer &share, std::function<void()> done);

  // Copies the output out of the ring, once it is there. Any thread.
  static void scatter_now(const ChunkTransfer &share);
  void scatter(const ChunkTransfer &share, std::function<void()> done);
  // Called once no copy is under way. Any thread that is attached to the device.
  void unpin(ChunkTransfer &share);
  // Waits until the copying threads have nothing more to do with their copies: they call
  // done() a moment before that. What done() uses may then be freed.
  void await_copies() { copies_->await_none(); }
  // For threads that call the driver meanwhile.
  DriverTurn &turn() { return turn_; }

 private:
  bool choose_pinning(uint64_t bytes);
  // Has the copy threads call part(0) to part(count - 1).
  void copy(uint64_t bytes, size_t count, std::function<void(size_t)> part,
            std::function<void()> done);

  device::Device &device_;
  const PinnedMemory &pinned_;
  CopyThreads &copy_threads_;
  const bool saves_cpu_;
  const std::shared_ptr<Copies> copies_ = std::make_shared<Copies>();
  std::atomic<uint64_t> waiting_to_pin_bytes_ = 0;
  DriverTurn turn_;
  Workers pinner_;
};

}  // namespace lanecrypt::runtime
