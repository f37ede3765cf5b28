// Jobs that a caller's own thread puts into its stream, and sees end, while the device's thread
// sleeps: Executor::start_here().
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "cipher/executor.h"
#include "device/host/host_device.h"
#include "unit/support/forwarding_device.h"
#include "unit/support/random_bytes.h"
#include "unit/support/reference.h"

namespace lanecrypt::test {
namespace {

using device::HostCallersStream;
using runtime::Executor;
using runtime::RequestPointer;

// The threads that launch kernels in streams of callers'.
struct Launches {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int> count = 0;
};

class WatchedStream : public ForwardingStream {
 public:
  WatchedStream(std::unique_ptr<Stream> inner, Launches &launches)
      : ForwardingStream(std::move(inner)), launches_(launches) {}
  Status launch(const device::Launch &launch) override {
    ++launches_.count;
    std::lock_guard lock(launches_.mutex);
    launches_.threads.insert(std::this_thread::get_id());
    return ForwardingStream::launch(launch);
  }

 private:
  Launches &launches_;
};

class LaunchWatcher : public ForwardingDevice {
 public:
  LaunchWatcher(std::unique_ptr<Device> inner, Launches &launches)
      : ForwardingDevice(std::move(inner)), launches_(launches) {}
  Result<std::unique_ptr<device::Stream>> adopt_stream(void *handle) override {
    Result<std::unique_ptr<device::Stream>> stream = inner().adopt_stream(handle);
    if (!stream.ok()) return stream;
    return std::unique_ptr<device::Stream>(new WatchedStream(std::move(*stream), launches_));
  }

 private:
  Launches &launches_;
};

class Gate {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_open_; });
  }
  void open() {
    std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

class CallersThread : public testing::Test {
 protected:
  void SetUp() override { open(""); }
  ~CallersThread() override {
    executor_.reset();
    unsetenv("LANECRYPT_HOST_FAULT");
    unsetenv("LANECRYPT_AES_FORM");
  }

  void open(const char *fault) {
    executor_.reset();
    setenv("LANECRYPT_HOST_FAULT", fault, 1);
    setenv("LANECRYPT_AES_FORM", "table1", 1);
    device::Found found = wrapped(device::find_host().front(), [this](auto inner) {
      return std::make_unique<LaunchWatcher>(std::move(inner), launches_);
    });
    runtime::PipelineOptions options;
    options.skip_self_test = true;
    executor_ = std::make_unique<Executor>(std::move(found), options, pinned_, movers_,
                                           [](const RequestPointer &request, const Status &why) {
                                             request->failure = why;
                                             request->end();
                                           });
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
    lc_message message = {};
    message.key = key_.data();
    message.iv = iv_.data();
    message.in = message.out = data_;
    message.length = kBytes;
    message.tag = tag_;
    lc_cipher_job asked = {};
    asked.struct_size = sizeof asked;
    asked.cipher = cipher;
    asked.direction = direction;
    asked.key_bytes = cipher == LC_SM4_CTR ? 16 : 32;
    asked.memory = LC_MEMORY_DEVICE;
    asked.stream = stream;
    asked.messages = &message;
    asked.message_count = 1;
    asked.message_size = sizeof message;
    if (cipher == LC_AES_GCM) asked.tag_memory = LC_MEMORY_DEVICE;
    if (cipher == LC_AES_GCM && direction == LC_DECRYPT) asked.verdicts = tag_ + 16;
    Result<CipherJob> made = make_cipher_job(&asked);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return std::make_shared<runtime::Request>(std::move(*made), nullptr);
  }
  // Its device's thread may be about to fall asleep.
  void start(const RequestPointer &request) {
    while (!executor_->start_here(request)) std::this_thread::yield();
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
    request->bring_about(true);
    return request->wait();
  }

  static constexpr size_t kBytes = 4099;
  Launches launches_;
  runtime::PinnedMemory pinned_;
  runtime::Movers movers_;
  std::unique_ptr<Executor> executor_;
  Bytes plain_ = Bytes(kBytes), key_ = Bytes(32), iv_ = Bytes(16, 7);
  uint8_t *data_ = nullptr, *tag_ = nullptr;
};

// It launches there, at once, and in the order of the stream.
TEST_F(CallersThread, LaunchesInTheStreamsOrder) {
  HostCallersStream stream;
  Gate gate;
  stream.run([&] {
    gate.wait();
    std::memcpy(data_, plain_.data(), kBytes);
  });
  const RequestPointer job = ctr(stream.handle());
  start(job);
  EXPECT_TRUE(job->wait_enqueued().ok());
  EXPECT_LT(0, launches_.count);
  EXPECT_EQ(launches_.threads, (std::set{std::this_thread::get_id()}));
  Bytes after;
  stream.run([&] { after = data(); });
  job->bring_about(false);
  Status status;
  EXPECT_FALSE(job->ended(&status)) << "before its turn";
  EXPECT_EQ(data(), Bytes(kBytes));
  gate.open();
  EXPECT_TRUE(end_of(job).ok());
  stream.finish();
  EXPECT_TRUE(after == by_openssl());
  EXPECT_EQ(1u, executor_->counters().jobs);
  EXPECT_EQ(kBytes, executor_->counters().bytes);
  EXPECT_EQ(0u, executor_->load_bytes());
}

TEST_F(CallersThread, WipesWhereATagIsWrong) {
  HostCallersStream stream;
  std::memcpy(data_, plain_.data(), kBytes);
  const RequestPointer seals = request(LC_AES_GCM, LC_ENCRYPT, stream.handle());
  start(seals);
  stream.run([&] { tag_[3] ^= 4; });
  tag_[16] = 0xa5;
  const RequestPointer opens = request(LC_AES_GCM, LC_DECRYPT, stream.handle());
  start(opens);
  EXPECT_TRUE(end_of(opens).ok());
  EXPECT_TRUE(end_of(seals).ok());
  EXPECT_EQ(0, tag_[16]);
  EXPECT_EQ(data(), Bytes(kBytes)) << "what the tag does not vouch for";
  EXPECT_EQ(launches_.threads, (std::set{std::this_thread::get_id()}));
}

// More jobs than there are slots, whose caller asks for no end.
TEST_F(CallersThread, NobodyNeedWait) {
  HostCallersStream stream;
  constexpr int kJobs = 301;
  stream.run([&] { std::memcpy(data_, plain_.data(), kBytes); });
  for (int n = 0; n < kJobs; ++n) start(ctr(stream.handle()));
  stream.finish();
  EXPECT_TRUE(data() == by_openssl());
  // The device's thread ends what nobody looks after.
  while (executor_->load_bytes() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(uint64_t{kJobs}, executor_->counters().jobs);
}

TEST_F(CallersThread, DoesNotWaitForTheDevicesThread) {
  HostCallersStream stream;
  Gate gate, is_busy;
  std::thread other([&] {
    (void)executor_->call([&](device::Device &, runtime::DeviceMemory &) {
      is_busy.open();
      gate.wait();
      return Status();
    });
  });
  is_busy.wait();
  const RequestPointer job = ctr(stream.handle());
  EXPECT_FALSE(executor_->start_here(job));
  EXPECT_EQ(0, launches_.count);
  gate.open();
  other.join();
  start(job);
  EXPECT_TRUE(end_of(job).ok());
}

TEST_F(CallersThread, TellsWhatTheDeviceDid) {
  HostCallersStream stream;
  open("fail-launch:0");
  const RequestPointer refused = ctr(stream.handle());
  start(refused);
  EXPECT_FALSE(refused->wait_enqueued().ok());
  EXPECT_FALSE(end_of(refused).ok());
  EXPECT_EQ(0u, executor_->load_bytes());

  HostCallersStream other;
  open("lost-after:0");
  const RequestPointer lost = ctr(other.handle());
  start(lost);
  EXPECT_EQ(LC_ERROR_DEVICE, end_of(lost).code());
  EXPECT_EQ(LC_DEVICE_LOST, executor_->state());
  EXPECT_FALSE(executor_->start_here(ctr(other.handle())));
  EXPECT_EQ(0u, executor_->load_bytes());
}

// Closing waits for the stream, as for all that was begun. Whoever waits is told, and nobody
// touches the device afterwards.
TEST_F(CallersThread, ClosesWhenTheStreamIsThere) {
  HostCallersStream stream;
  Gate gate;
  stream.run([&] { gate.wait(); });
  const RequestPointer waited_for = ctr(stream.handle()), forgotten = ctr(stream.handle());
  start(waited_for);
  start(forgotten);
  std::thread waiter([&] { EXPECT_TRUE(end_of(waited_for).ok()); });
  std::atomic<bool> is_closed = false;
  std::thread closer([&] {
    executor_.reset();
    is_closed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(is_closed);
  gate.open();
  closer.join();
  waiter.join();
  Status status;
  EXPECT_TRUE(forgotten->ended(&status) && status.ok());
  forgotten->bring_about(true);
}

// The device's thread waits for one stream before another cipher proves itself. Who waits for what
// another stream has done is told all the same.
TEST_F(CallersThread, NoStreamWaitsForAnother) {
  HostCallersStream first, second;
  Gate of_first, of_second;
  first.run([&] { of_first.wait(); });
  second.run([&] { of_second.wait(); });
  const RequestPointer job = ctr(first.handle()), held_up = ctr(second.handle());
  start(job);
  start(held_up);
  const RequestPointer proves = request(LC_SM4_CTR, LC_ENCRYPT, nullptr);
  ASSERT_TRUE(executor_->submit(proves));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it has begun to wait, most often
  of_first.open();
  EXPECT_TRUE(end_of(job).ok());
  of_second.open();
  EXPECT_TRUE(end_of(held_up).ok());
  EXPECT_TRUE(proves->wait().ok());
}

// Many threads, a stream each.
TEST_F(CallersThread, OneAfterTheOther) {
  constexpr int kThreads = 4, kJobs = 50;
  std::vector<std::thread> threads;
  for (int n = 0; n < kThreads; ++n)
    threads.emplace_back([&] {
      HostCallersStream stream;
      for (int job = 0; job < kJobs; ++job) {
        const RequestPointer mine = ctr(stream.handle());
        start(mine);
        if (job % 3 == 0) continue;
        EXPECT_TRUE(end_of(mine).ok());
      }
    });
  for (std::thread &thread : threads) thread.join();
  while (executor_->load_bytes() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(uint64_t{kThreads * kJobs}, executor_->counters().jobs);
  EXPECT_EQ(size_t{kThreads}, launches_.threads.size());
}

}  // namespace
}  // namespace lanecrypt::test
