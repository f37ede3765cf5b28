// Decides whose turn it is to call the driver. Pinning memory holds a lock of the driver for
// tenths of a millisecond. Starting a chunk takes twenty calls, and each of them would wait
// for that lock. So the thread that starts a chunk waits once, and goes before those that pin.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>

namespace lanecrypt::runtime {

// Any thread.
class DriverTurn {
 public:
  // For many short calls.
  class Short {
   public:
    explicit Short(DriverTurn &turn) : turn_(turn) {
      std::unique_lock lock(turn_.mutex_);
      ++turn_.waiting_;
      turn_.changed_.wait(lock, [&] { return !turn_.taken_; });
      --turn_.waiting_;
      turn_.taken_ = true;
    }
    ~Short() { turn_.give_up(); }
    Short(const Short &) = delete;

   private:
    DriverTurn &turn_;
  };
  // For one call that takes long.
  class Long {
   public:
    explicit Long(DriverTurn &turn) : turn_(turn) {
      std::unique_lock lock(turn_.mutex_);
      turn_.changed_.wait(lock, [&] { return !turn_.taken_ && turn_.waiting_ == 0; });
      turn_.taken_ = true;
    }
    ~Long() { turn_.give_up(); }
    Long(const Long &) = delete;

   private:
    DriverTurn &turn_;
  };

 private:
  void give_up() {
    std::lock_guard lock(mutex_);
    taken_ = false;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned waiting_ = 0;  // threads that wait to make short calls
  bool taken_ = false;
};

}  // namespace lanecrypt::runtime
