// The emulator behind the C ABI. A test can read its device memory and hold up its streams.
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

// A context with the emulator alone, and a buffer of its device memory. The constructor throws
// std::runtime_error if either fails.
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
  // Closes the context, which also frees the device memory.
  void close() {
    lc_close(context_);
    context_ = nullptr;
  }

 private:
  lc_context *context_ = nullptr;
  uint8_t *data_ = nullptr;
};

// A gate that holds up streams. A waiting stream continues when the gate opens.
class StreamGate {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_open_; });
  }
  // Holds up `stream`: work that is enqueued from now on starts when the gate opens.
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
