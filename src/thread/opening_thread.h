// A thread that opens a device and works on it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <thread>

#include "thread/openings.h"

namespace lanecrypt::runtime {

// `OpeningThread` is not thread-safe: its user calls begin() with a lock held.
class OpeningThread {
 public:
  // Starts the thread unless it runs, with an Opening if `opens_device`. Throws if no thread can be
  // started.
  void begin(bool opens_device, std::function<void()> work);
  // Called on the thread when the device is open or cannot be opened.
  void end_opening() { opening_.reset(); }
  bool runs() const { return thread_.joinable(); }
  // Returns whether it is the calling thread.
  bool is_this() const { return thread_.get_id() == std::this_thread::get_id(); }
  // Waits until the thread ends, if it was started.
  void join();

 private:
  std::optional<Opening> opening_;
  std::thread thread_;
};

}  // namespace lanecrypt::runtime
