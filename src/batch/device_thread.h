// The life of a device, or of the CPU in its place, that one thread has for itself: begun
// by the first call that needs it, opened, at work, and lost or stopped.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "job/status.h"
#include "thread/counters.h"
#include "thread/device_service.h"
#include "thread/opening_thread.h"
#include "thread/stuck.h"

namespace lanecrypt::runtime {

// Thread-safe, except for the work itself. A derived class calls end() before any member of its own
// is destroyed.
class DeviceThread {
 public:
  virtual ~DeviceThread() = default;

  bool may_work() const { return !stopping_ && !failed_; }
  bool is_open() const { return open_ && may_work(); }
  // Why it does not work.
  Status status() const;
  DeviceService service() const;
  // Opens it, without waiting for it.
  void warm_up();

 protected:
  DeviceThread(Counters &counters, bool is_device) : counters_(counters), is_device_(is_device) {}

  // ---- Any thread ----
  // Under the lock: starts the thread, unless it runs.
  void begin();
  // Has the thread do what stop() owes, and waits for it.
  void end();

  // ---- On its thread ----
  // Opens it and has it prove itself.
  virtual Status open() = 0;
  // Under the lock: whether there is something to do. Once stopped, what it still does.
  virtual bool has_work() const = 0;
  // Under the lock, which it may open meanwhile: works until there is nothing to do, or it
  // has failed.
  virtual void serve(std::unique_lock<std::mutex> &lock) = 0;
  // The same: it works no more. Notes that, and then hands back all that it has.
  virtual void fail(std::unique_lock<std::mutex> &lock, const Status &status) = 0;
  void note_failure(const Status &status);
  // The last of all.
  virtual void close() = 0;

  // Under the lock, on the thread that begins: what else is to run.
  virtual void begin_others() {}

  Counters &counters_;
  const bool is_device_;
  // Written under the lock.
  std::atomic<bool> stopping_{false}, failed_{false}, open_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;

 private:
  void run();

  bool wanted_ = false;
  Status status_;
  OpeningThread thread_;
};

// The end of what works on a device, which may be nullptr: of one that is stuck it stays
// for ever.
template <class Engine>
void close_engine(std::unique_ptr<Engine> engine) {
  if (engine != nullptr && engine->is_stuck()) keep_for_ever(std::move(engine));
}

}  // namespace lanecrypt::runtime
