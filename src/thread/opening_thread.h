// A thread that opens a device for itself, and works on it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <thread>

#include "thread/openings.h"

namespace lanecrypt::runtime {

// Its user's lock is held by who begins it.
class OpeningThread {
 public:
  // Starts it, unless it runs, with an Opening if it opens a device. Throws where there are
  // no threads.
  void begin(bool opens_device, std::function<void()> work);
  // On the thread: the device is open, or cannot be.
  void end_opening() { opening_.reset(); }
  bool runs() const { return thread_.joinable(); }
  // Whether it is the calling thread.
  bool is_this() const { return thread_.get_id() == std::this_thread::get_id(); }
  // Waits for its end, if it was begun.
  void join();

 private:
  std::optional<Opening> opening_;
  std::thread thread_;
};

}  // namespace lanecrypt::runtime
