// Jobs that a caller's thread enqueues in its own stream, and sees end, while the device's thread
// sleeps (Executor::start_here()). Runs on the emulator.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "unit/device/callers_thread.h"

namespace lanecrypt::test {
namespace {

// The caller's thread launches at once, in stream order.
TEST_F(CallersThread, LaunchesInTheStreamsOrder) {
  HostCallersStream stream;
  StreamGate gate;
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
  job->poll_until_done(runtime::kAtOnce);
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

// Only the end of a job is marked: a mark costs time on the device and on the caller's thread.
TEST_F(CallersThread, MarksTheEndAlone) {
  HostCallersStream stream;
  std::memcpy(data_, plain_.data(), kBytes);
  const RequestPointer job = ctr(stream.handle());
  start(job);
  EXPECT_TRUE(end_of(job).ok());
  EXPECT_TRUE(data() == by_openssl());
  EXPECT_EQ(1, launches_.marks);
  EXPECT_EQ(0u, job->result.kernel_ns);
}

// A stream waits until another one has finished with the key slot, but not if it is known to have
// finished.
TEST_F(CallersThread, WaitsForTheKeySlotWhereItMayBeInUse) {
  open("", "bitslice");
  ASSERT_TRUE(device_->make_key_slot().ok());
  HostCallersStream one, other;
  for (HostCallersStream *stream : {&one, &one, &other}) {
    const RequestPointer job = ctr(stream->handle());
    start(job);
    EXPECT_TRUE(end_of(job).ok());
  }
  EXPECT_EQ(0, launches_.awaits);
  StreamGate first_gate, second_gate;
  one.run([&] { first_gate.wait(); });
  other.run([&] { second_gate.wait(); });
  const RequestPointer first = ctr(one.handle()), second = ctr(other.handle());
  start(first);
  EXPECT_EQ(0, launches_.awaits);
  start(second);
  EXPECT_EQ(1, launches_.awaits);
  first_gate.open();
  EXPECT_TRUE(end_of(first).ok());
  // Now the second job may be using the slot.
  const RequestPointer third = ctr(one.handle());
  start(third);
  EXPECT_EQ(2, launches_.awaits);
  second_gate.open();
  EXPECT_TRUE(end_of(second).ok());
  EXPECT_TRUE(end_of(third).ok());
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

// More jobs than there are slots. The caller polls none of them.
TEST_F(CallersThread, NobodyNeedWait) {
  HostCallersStream stream;
  constexpr int kJobs = 301;
  stream.run([&] { std::memcpy(data_, plain_.data(), kBytes); });
  for (int n = 0; n < kJobs; ++n) start(ctr(stream.handle()));
  stream.finish();
  EXPECT_TRUE(data() == by_openssl());
  // The device's thread completes jobs that no thread polls or waits for.
  while (executor_->load_bytes() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(uint64_t{kJobs}, executor_->counters().jobs);
}

// If there are many pending jobs, each new one completes an older one. A slot has one event for its
// end.
TEST_F(CallersThread, ManyThatNobodyAsksForNeedFewSlots) {
  constexpr int kMostSlots = 33;
  HostCallersStream stream;
  for (int n = 0; n < 301; ++n) {
    start(ctr(stream.handle()));
    stream.finish();
  }
  EXPECT_LE(launches_.events, kMostSlots + 1);  // one event belongs to the launches
}

TEST_F(CallersThread, DoesNotWaitForTheDevicesThread) {
  HostCallersStream stream;
  StreamGate gate, is_busy;
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

// Closing waits for the stream, as for all work that was begun. Waiting threads are woken, and no
// thread uses the device afterwards.
TEST_F(CallersThread, ClosesWhenTheStreamIsThere) {
  HostCallersStream stream;
  StreamGate gate;
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
  forgotten->poll_until_done(runtime::kWhenever);
}

// The device's thread waits for one stream before it runs another cipher's self-test. A caller that
// waits for a job in another stream still sees it complete.
TEST_F(CallersThread, NoStreamWaitsForAnother) {
  HostCallersStream first, second;
  StreamGate of_first, of_second;
  first.run([&] { of_first.wait(); });
  second.run([&] { of_second.wait(); });
  const RequestPointer job = ctr(first.handle()), held_up = ctr(second.handle());
  start(job);
  start(held_up);
  const RequestPointer proves = request(LC_SM4_CTR, LC_ENCRYPT, nullptr);
  ASSERT_TRUE(executor_->submit(proves));
  // by then it has most likely begun to wait
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  of_first.open();
  EXPECT_TRUE(end_of(job).ok());
  of_second.open();
  EXPECT_TRUE(end_of(held_up).ok());
  EXPECT_TRUE(proves->wait().ok());
}

// A caller that polls does not wait for another caller, however long that one launches.
TEST_F(CallersThread, AsksWithoutWaiting) {
  HostCallersStream first, second;
  const RequestPointer job = ctr(first.handle()), others = ctr(second.handle());
  start(job);
  first.finish();
  StreamGate gate, launches;
  launches_.before = [&] {
    launches.open();
    gate.wait();
  };
  std::thread other([&] { start(others); });
  launches.wait();
  job->poll_until_done(runtime::kAtOnce);
  gate.open();
  other.join();
  EXPECT_TRUE(end_of(others).ok());
  EXPECT_TRUE(end_of(job).ok());
}

TEST_F(CallersThread, OfSeveralChunks) {
  HostCallersStream stream;
  Bytes expected(kChunks * kChunkBytes);
  for (size_t n = 0; n < kChunks; ++n)
    reference_crypt({LC_AES_CBC, LC_DECRYPT, 32}, key_.data(), iv_.data(),
                    plain_.data() + n * kChunkBytes, expected.data() + n * kChunkBytes,
                    kChunkBytes);
  // The device's thread may take over the later chunks.
  for (int n = 0; n < 20; ++n) {
    std::memcpy(data_, plain_.data(), kBytes);
    std::thread other([&] { EXPECT_TRUE(executor_->make_ready().ok()); });
    const RequestPointer job = chunks(stream.handle());
    start(job);
    EXPECT_TRUE(end_of(job).ok());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), data_));
    other.join();
  }
  EXPECT_EQ(0u, executor_->load_bytes());
}

TEST_F(CallersThread, TwoThreadsInOneStream) {
  HostCallersStream stream;
  stream.run([&] { std::memcpy(data_, plain_.data(), kBytes); });
  const auto run = [&] {
    for (int n = 0; n < 25; ++n) {
      const RequestPointer job = ctr(stream.handle());
      start(job);
      if (n % 2 != 0) continue;
      EXPECT_TRUE(end_of(job).ok());
    }
  };
  std::thread other(run);
  run();
  other.join();
  stream.finish();
  EXPECT_EQ(data(), plain_) << "an even number of times the same keystream";
}

// The device's thread does jobs in host memory at the same time.
TEST_F(CallersThread, BesideTheDevicesOwnWork) {
  std::atomic<bool> is_over = false;
  std::thread other([&] {
    HostCallersStream stream;
    while (!is_over) {
      const RequestPointer job = ctr(stream.handle());
      start(job);
      EXPECT_TRUE(end_of(job).ok());
    }
  });
  const Bytes expected = by_openssl();
  for (int n = 0; n < 50; ++n) {
    Bytes text = plain_;
    lc_message message = {};
    message.key = key_.data();
    message.iv = iv_.data();
    message.in = message.out = text.data();
    message.length = kBytes;
    lc_cipher_job asked = {};
    asked.struct_size = sizeof asked;
    asked.cipher = LC_AES_CTR;
    asked.key_bytes = 32;
    asked.messages = &message;
    asked.message_count = 1;
    asked.message_size = sizeof message;
    Result<CipherJob> made = make_cipher_job(&asked);
    ASSERT_TRUE(made.ok()) << made.status().text();
    const auto job = std::make_shared<runtime::Request>(std::move(*made), nullptr);
    ASSERT_TRUE(executor_->submit(job));
    EXPECT_TRUE(job->wait().ok());
    EXPECT_TRUE(text == expected);
  }
  is_over = true;
  other.join();
}

// The device's thread also completes jobs that no caller polls, while it waits for another one that
// a stream holds up. It then wipes their keys.
TEST_F(CallersThread, NobodyNeedWaitBesideWhoDoes) {
  HostCallersStream first, second;
  StreamGate gate;
  second.run([&] { gate.wait(); });
  const RequestPointer held_up = ctr(second.handle()), forgotten = ctr(first.handle());
  ASSERT_TRUE(executor_->submit(held_up));
  EXPECT_TRUE(held_up->wait_enqueued().ok());
  start(forgotten);
  while (executor_->load_bytes() != held_up->load_bytes)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Status status;
  EXPECT_TRUE(forgotten->ended(&status) && status.ok());
  const uint8_t *const keys = forgotten->job.keys.data();
  EXPECT_TRUE(std::all_of(keys, keys + 32, [](uint8_t byte) { return byte == 0; }));
  EXPECT_FALSE(held_up->ended(&status));
  gate.open();
  EXPECT_TRUE(held_up->wait().ok());
}

// Many threads, each with its own stream.
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
