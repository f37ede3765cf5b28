// Executor::start_here(): callers' threads enqueue jobs in their own streams and see them end,
// while the device's thread sleeps. The test acts as a caller.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "cipher/executor.h"
#include "device/host/host_device.h"
#include "kernels/block/ciphers.h"
#include "unit/support/emulator.h"
#include "unit/support/forwarding_device.h"
#include "unit/support/one_executor.h"
#include "unit/support/one_message.h"
#include "unit/support/random_bytes.h"
#include "unit/support/reference.h"

namespace lanecrypt::test {

using device::HostCallersStream;
using runtime::Executor;
using runtime::RequestPointer;

// Records what is launched in callers' streams, and by which threads.
struct Launches {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int> count = 0, events = 0;  // events created by any thread
  std::atomic<int> marks = 0, awaits = 0;  // in callers' streams
  // Called on the launching thread before each launch. Set it only while no thread launches.
  std::function<void()> before = [] {};
  // The test's thread, and whether it called the device outside of on_callers_thread().
  const std::thread::id callers = std::this_thread::get_id();
  std::atomic<bool> is_inside = false, was_outside = false;

  void check_thread() {
    if (std::this_thread::get_id() == callers && !is_inside) was_outside = true;
  }
};

class WatchedStream : public ForwardingStream {
 public:
  WatchedStream(std::unique_ptr<Stream> inner, Launches &launches)
      : ForwardingStream(std::move(inner)), launches_(launches) {}
  Status launch(const device::Launch &launch) override {
    ++launches_.count;
    launches_.check_thread();
    launches_.before();
    {
      std::lock_guard lock(launches_.mutex);
      launches_.threads.insert(std::this_thread::get_id());
    }
    // The emulator has no kernels that read the key slot, so these launches do nothing.
    if (std::strstr(launch.kernel, "_slot_") != nullptr) return Status();
    return ForwardingStream::launch(launch);
  }
  Status mark(device::Event &event) override {
    ++launches_.marks;
    return ForwardingStream::mark(event);
  }
  Status await(device::Event &event) override {
    ++launches_.awaits;
    return ForwardingStream::await(event);
  }

 private:
  Launches &launches_;
};

class LaunchWatcher : public ForwardingDevice {
 public:
  LaunchWatcher(std::unique_ptr<Device> inner, Launches &launches)
      : ForwardingDevice(std::move(inner)), launches_(launches) {}
  void on_callers_thread(const std::function<void()> &work) override {
    struct Inside {
      std::atomic<bool> &is;
      ~Inside() { is = false; }
    };
    if (std::this_thread::get_id() != launches_.callers) return work();
    launches_.is_inside = true;
    const Inside inside{launches_.is_inside};
    work();
  }
  Result<std::unique_ptr<device::Event>> make_event() override {
    ++launches_.events;
    launches_.check_thread();
    return ForwardingDevice::make_event();
  }
  Result<std::unique_ptr<device::Buffer>> allocate(device::MemoryKind kind,
                                                   uint64_t bytes) override {
    launches_.check_thread();
    return ForwardingDevice::allocate(kind, bytes);
  }
  Result<std::unique_ptr<device::Stream>> adopt_stream(void *handle) override {
    launches_.check_thread();
    Result<std::unique_ptr<device::Stream>> stream = inner().adopt_stream(handle);
    if (!stream.ok()) return stream;
    return std::unique_ptr<device::Stream>(new WatchedStream(std::move(*stream), launches_));
  }
  const device::Buffer *key_slot() override { return key_slot_.get(); }
  // Creates the key slot. From then on the device reports it.
  Status make_key_slot() {
    Result<std::unique_ptr<device::Buffer>> made =
        inner().allocate(device::MemoryKind::kDevice, 2 * BLOCK_MOST_SCHEDULE_WORDS * 4);
    if (made.ok()) key_slot_ = std::move(*made);
    return made.status();
  }

 private:
  Launches &launches_;
  std::unique_ptr<device::Buffer> key_slot_;
};

class CallersThread : public testing::Test {
 protected:
  void SetUp() override { open(""); }
  ~CallersThread() override {
    executor_.reset();
    EXPECT_FALSE(launches_.was_outside) << "the thread may have another device's context there";
    unsetenv("LANECRYPT_HOST_FAULT");
    unsetenv("LANECRYPT_AES_FORM");
  }

  void open(const char *fault, const char *form = "table1") {
    executor_.reset();
    setenv("LANECRYPT_HOST_FAULT", fault, 1);
    setenv("LANECRYPT_AES_FORM", form, 1);
    device::Found found = wrapped(device::find_host().front(), [this](auto inner) {
      auto made = std::make_unique<LaunchWatcher>(std::move(inner), launches_);
      device_ = made.get();
      return made;
    });
    runtime::PipelineOptions options;
    options.skip_self_test = true;
    executor_ = executor_of(std::move(found), options, pinned_, copy_threads_);
    ASSERT_TRUE(executor_->make_ready().ok());
    const auto allocate = [&](uint64_t bytes, uint8_t **to) {
      const Status status = executor_->call([&](device::Device &, runtime::DeviceMemory &memory) {
        Result<uint64_t> address = memory.allocate(bytes);
        if (!address.ok()) return address.status();
        *to = reinterpret_cast<uint8_t *>(*address);
        return Status();
      });
      ASSERT_TRUE(status.ok()) << status.text();
    };
    allocate(kBytes, &data_);
    allocate(32, &tag_);
    Random random(31);
    random.fill(plain_.data(), kBytes);
    random.fill(key_.data(), key_.size());
    std::memset(data_, 0, kBytes);
  }

  RequestPointer request(lc_cipher cipher, lc_direction direction, void *stream) {
    lc_message message = plain_message(key_.data(), iv_.data(), data_, data_, kBytes);
    message.tag = tag_;
    lc_cipher_job asked = job_of(message, cipher, direction, cipher == LC_SM4_CTR ? 16 : 32);
    asked.memory = LC_MEMORY_DEVICE;
    asked.device = 0;
    asked.has_device = 1;
    asked.stream = stream;
    if (cipher == LC_AES_GCM) asked.tag_memory = LC_MEMORY_DEVICE;
    if (cipher == LC_AES_GCM && direction == LC_DECRYPT) asked.verdicts = tag_ + 16;
    Result<CipherJob> made = make_cipher_job(&asked);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return std::make_shared<runtime::Request>(std::move(*made), nullptr);
  }
  // Retries, because the device's thread may not be asleep yet.
  void start(const RequestPointer &request) {
    while (!executor_->start_here(request)) std::this_thread::yield();
  }
  // Returns a job of several chunks: each message is decrypted from a copy.
  RequestPointer chunks(void *stream) {
    lc_message messages[kChunks] = {};
    for (size_t n = 0; n < kChunks; ++n) {
      messages[n].key = key_.data();
      messages[n].iv = iv_.data();
      messages[n].in = messages[n].out = data_ + n * kChunkBytes;
      messages[n].length = kChunkBytes;
    }
    lc_cipher_job asked = {};
    asked.struct_size = sizeof asked;
    asked.cipher = LC_AES_CBC;
    asked.direction = LC_DECRYPT;
    asked.key_bytes = 32;
    asked.memory = LC_MEMORY_DEVICE;
    asked.stream = stream;
    asked.messages = messages;
    asked.message_count = kChunks;
    asked.message_size = sizeof messages[0];
    Result<CipherJob> made = make_cipher_job(&asked);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return std::make_shared<runtime::Request>(std::move(*made), nullptr);
  }
  RequestPointer ctr(void *stream) { return request(LC_AES_CTR, LC_ENCRYPT, stream); }
  Bytes by_openssl() {
    Bytes out(kBytes);
    reference_crypt({LC_AES_CTR, LC_ENCRYPT, 32}, key_.data(), iv_.data(), plain_.data(),
                    out.data(), kBytes);
    return out;
  }
  Bytes data() const { return Bytes(data_, data_ + kBytes); }
  static Status end_of(const RequestPointer &request) {
    request->poll_until_done(runtime::kWhenever);
    return request->wait();
  }

  static constexpr size_t kBytes = 4099, kChunks = 3, kChunkBytes = 1024;
  Launches launches_;
  runtime::PinnedMemory pinned_;
  runtime::CopyThreads copy_threads_;
  std::unique_ptr<Executor> executor_;
  LaunchWatcher *device_ = nullptr;  // owned by the executor
  Bytes plain_ = Bytes(kBytes), key_ = Bytes(32), iv_ = Bytes(16, 7);
  uint8_t *data_ = nullptr, *tag_ = nullptr;
};

}  // namespace lanecrypt::test
