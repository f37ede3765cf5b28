// The host's side of a device's pipeline: brings the bytes of a chunk to where
// the device can copy them, and those that come back to where they belong, on
// threads of its own.
//
// Memory of the caller's that is not pinned goes one of two ways. It is pinned
// where it lies, by one thread, since drivers do this one after the other; or
// it is copied through a pinned ring, by several. Pinning costs a quarter of
// the CPU time, copying has no such limit: a chunk goes the way that is sooner
// through, or, where asked, the one that costs less. Output over its own input is always copied,
// and only once it is known to be right.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "pipeline/driver_turn.h"
#include "pipeline/host_runs.h"
#include "thread/workers.h"

namespace lanecrypt::schedule {

// Threads that copy, for all devices of a process.
struct Movers {
  Movers();
  Workers workers;
  std::atomic<uint64_t> waiting_bytes = 0;
};

// What one chunk needs of the host.
struct HostShare {
  HostRuns in, out;
  bool may_pin = false;     // set by the caller
  bool stages_all = false;  // the same: all goes by the ring, laid out as on the device
  bool pin_in = false, pin_out = false;  // chosen
  std::vector<std::unique_ptr<device::Buffer>> pages;
  std::unique_ptr<device::Buffer> ring_in, ring_out;
  uint64_t ring_in_bytes = 0, ring_out_bytes = 0;
};

// Copies that other threads make for one device, until they have told so, too.
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

// The device's thread alone, except where noted.
class HostSide {
 public:
  // saves_cpu: pins whatever can be pinned.
  HostSide(device::Device &device, const PinnedMemory &pinned, Movers &movers, bool saves_cpu);

  // Chooses the way of a share whose runs are added.
  void plan(HostShare &share);
  // Whether it is done sooner than another thread wakes.
  static bool is_small(const HostRuns &runs);

  // Pins what was chosen; done(status) is then called on another thread.
  bool must_pin(const HostShare &share) const { return share.pin_in || share.pin_out; }
  void pin(HostShare &share, std::function<void(Status)> done);
  // Gives up pinning after an error of pin(): all is copied.
  void copy_instead(HostShare &share);
  // The ring it needs: to be called when nothing is left to pin.
  void lay_in_ring(HostShare &share);
  // Copies the input to the ring: now, or on other threads, and then done().
  static void gather_now(const HostShare &share);
  void gather(const HostShare &share, std::function<void()> done);

  // Any thread, once the output is back: copies it out of the ring.
  static void scatter_now(const HostShare &share);
  void scatter(const HostShare &share, std::function<void()> done);
  // Any thread attached to the device, once no copy is under way.
  void unpin(HostShare &share);
  // Until whoever was given a copy to make has nothing more to do with it: done()
  // tells of it a moment earlier. What done() uses may then go.
  void await_copies() { copies_->await_none(); }
  // For whoever calls the driver meanwhile.
  DriverTurn &turn() { return turn_; }

 private:
  bool choose_pinning(uint64_t bytes);
  // part(0) to part(count - 1), by the movers.
  void copy(uint64_t bytes, size_t count, std::function<void(size_t)> part,
            std::function<void()> done);

  device::Device &device_;
  const PinnedMemory &pinned_;
  Movers &movers_;
  const bool saves_cpu_;
  const std::shared_ptr<Copies> copies_ = std::make_shared<Copies>();
  std::atomic<uint64_t> waiting_to_pin_bytes_ = 0;
  DriverTurn turn_;
  Workers pinner_;
};

}  // namespace lanecrypt::schedule
