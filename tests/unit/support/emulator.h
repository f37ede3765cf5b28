// The emulator through the C ABI, whose device memory a test can read and whose streams it can hold
// up.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>

#include "device/host/host_device.h"
#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::test {

// A context with this device alone, and memory of the device. Throws std::runtime_error.
class Emulator {
 public:
  explicit Emulator(uint64_t bytes) {
    lc_options options = {};
    options.struct_size = sizeof options;
    options.devices = "host";
    options.fallback = LC_FALLBACK_NONE;
    void *memory = nullptr;
    if (lc_open(&options, &context_) != LC_OK ||
        lc_alloc_device(context_, 0, bytes, &memory) != LC_OK) {
      const std::string why = lc_last_error();
      lc_close(context_);
      throw std::runtime_error(why);
    }
    data_ = static_cast<uint8_t *>(memory);
  }
  ~Emulator() {
    if (context_ == nullptr) return;
    EXPECT_EQ(LC_OK, lc_free_device(context_, 0, data_));
    lc_close(context_);
  }
  Emulator(const Emulator &) = delete;
  Emulator &operator=(const Emulator &) = delete;

  lc_context *context() const { return context_; }
  uint8_t *data() const { return data_; }
  // With the memory.
  void close() {
    lc_close(context_);
    context_ = nullptr;
  }

 private:
  lc_context *context_ = nullptr;
  uint8_t *data_ = nullptr;
};

// Whoever waits goes on when it is open.
class StreamGate {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_open_; });
  }
  // What is asked of the stream from now on is done when the gate is open.
  void hold(device::HostCallersStream &stream) {
    stream.run([this] { wait(); });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

}  // namespace lanecrypt::test
