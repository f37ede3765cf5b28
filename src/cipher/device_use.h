// Arbitrates the use of a device between its own thread and callers that put a job into a stream by
// themselves.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace lanecrypt::runtime {

// Any thread.
class DeviceUse {
 public:
  // For a caller, who may have to wait for another one. False if the device's own thread has it or
  // waits for it, or it was closed.
  bool take_if_idle() {
    std::unique_lock lock(mutex_);
    const auto is_busy = [&] { return is_devices_ || device_waits_ || is_closed_; };
    ++callers_waiting_;
    changed_.wait(lock, [&] { return !is_taken_ || is_busy(); });
    --callers_waiting_;
    if (is_busy()) return false;
    return is_taken_ = true;
  }
  // For a caller who waits for nobody, and may come again at once and often. False if anybody has
  // it or waits for it, or it was closed.
  bool take_if_free() {
    std::lock_guard lock(mutex_);
    if (is_taken_ || device_waits_ || is_closed_ || callers_waiting_ != 0) return false;
    return is_taken_ = true;
  }
  // For a caller who waits for the device's thread too, unless `gives_up` says, now and then, that
  // there is no more reason to. False then, or if it was closed.
  bool take_unless(const std::function<bool()> &gives_up) {
    constexpr std::chrono::milliseconds kAsk{2};
    std::unique_lock lock(mutex_);
    const auto is_free = [&] { return (!is_taken_ && !device_waits_) || is_closed_; };
    while (true) {
      ++callers_waiting_;
      const bool has_come = changed_.wait_for(lock, kAsk, is_free);
      --callers_waiting_;
      if (has_come) break;
      lock.unlock();
      if (gives_up()) return false;
      lock.lock();
    }
    if (is_closed_) return false;
    return is_taken_ = true;
  }
  // For the device's thread, which goes before callers.
  void take_for_device() {
    std::unique_lock lock(mutex_);
    device_waits_ = true;
    changed_.wait(lock, [&] { return !is_taken_; });
    device_waits_ = false;
    is_taken_ = is_devices_ = true;
  }
  void give() {
    std::lock_guard lock(mutex_);
    is_taken_ = is_devices_ = false;
    changed_.notify_all();
  }
  // The same for a caller after whom only the device's thread may have it, which must be woken.
  void give_to_device() {
    std::lock_guard lock(mutex_);
    is_taken_ = false;
    device_waits_ = true;
    changed_.notify_all();
  }
  bool device_waits() {
    std::lock_guard lock(mutex_);
    return device_waits_;
  }

  // The device is not closed while someone visits. False if it is closed, or soon will be.
  bool begin_visit() {
    std::lock_guard lock(mutex_);
    if (is_closed_) return false;
    ++visitors_;
    return true;
  }
  void end_visit() {
    std::lock_guard lock(mutex_);
    --visitors_;
    changed_.notify_all();
  }

  // For the device's thread, which does not have it: nobody gets it any more. Waits until nobody
  // has it and no visitor is left.
  void close() {
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !is_taken_ && visitors_ == 0; });
  }
  bool is_closed() {
    std::lock_guard lock(mutex_);
    return is_closed_;
  }

  // A caller's, if it could be had (`has`), until it goes.
  class Turn {
   public:
    Turn(DeviceUse &use, bool has) : use_(use), has_(has) {}
    ~Turn() {
      if (!has_) return;
      if (goes_to_device_)
        use_.give_to_device();
      else
        use_.give();
    }
    Turn(const Turn &) = delete;
    explicit operator bool() const { return has_; }
    // Who has it next.
    void pass_to_device(bool does) { goes_to_device_ = does; }

   private:
    DeviceUse &use_;
    const bool has_;
    bool goes_to_device_ = false;
  };

  class Visit {
   public:
    explicit Visit(DeviceUse &use) : use_(use), is_in_(use.begin_visit()) {}
    ~Visit() {
      if (is_in_) use_.end_visit();
    }
    Visit(const Visit &) = delete;
    explicit operator bool() const { return is_in_; }

   private:
    DeviceUse &use_;
    const bool is_in_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_taken_ = false, is_closed_ = false;
  // is_devices_: the device's thread has the device. device_waits_: it waits for the device, or is
  // to have it next.
  bool is_devices_ = false, device_waits_ = false;
  unsigned callers_waiting_ = 0, visitors_ = 0;
};

}  // namespace lanecrypt::runtime
