// What happens to jobs that a caller's thread enqueues in its own stream, if the device fails or if
// that thread cannot allocate memory. Runs on the emulator.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <new>
#include <string>

#include "unit/device/callers_thread.h"

namespace {

// How many more allocations of this thread succeed before one fails. Negative: all succeed.
thread_local int times_left = -1;

}  // namespace

void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept {
  if (times_left >= 0 && times_left-- == 0) return nullptr;
  return std::malloc(bytes != 0 ? bytes : 1);
}
void *operator new(std::size_t bytes) {
  if (void *memory = ::operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
// noinline: if it is inlined, gcc assumes that the freed memory comes from another allocator.
[[gnu::noinline]] void operator delete(void *memory) noexcept { std::free(memory); }
void *operator new[](std::size_t bytes) { return ::operator new(bytes); }
void operator delete(void *memory, std::size_t) noexcept { ::operator delete(memory); }
void operator delete[](void *memory) noexcept { ::operator delete(memory); }
void operator delete[](void *memory, std::size_t) noexcept { ::operator delete(memory); }

namespace lanecrypt::test {
namespace {

// While it lives, `times` allocations of this thread succeed, then one fails, then all succeed.
class WantOfMemory {
 public:
  explicit WantOfMemory(int times) { times_left = times; }
  ~WantOfMemory() { times_left = -1; }
  WantOfMemory(const WantOfMemory &) = delete;
  bool has_struck() const { return times_left < 0; }
};

class CallersThreadFaults : public CallersThread {};

TEST_F(CallersThreadFaults, TellsWhatTheDeviceDid) {
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

// No more chunks are launched after the failure.
TEST_F(CallersThreadFaults, OfSeveralChunks) {
  HostCallersStream stream;
  for (const char *fault : {"fail-launch:0", "fail-launch:1", "fail-launch:2", "fail-launch:3"}) {
    open(fault);
    const RequestPointer job = chunks(stream.handle());
    start(job);
    const int launches = launches_.count;
    EXPECT_EQ(LC_ERROR_DEVICE, job->wait_enqueued().code()) << fault;
    EXPECT_EQ(LC_ERROR_DEVICE, end_of(job).code()) << fault;
    EXPECT_EQ(launches, launches_.count) << fault;
    EXPECT_EQ(0u, executor_->load_bytes());
  }
  for (const char *fault : {"lost-after:1", "lost-after:2", "lost-after:4"}) {
    open(fault);
    HostCallersStream other;
    const RequestPointer job = chunks(other.handle());
    start(job);
    EXPECT_EQ(LC_ERROR_DEVICE, end_of(job).code()) << fault;
    EXPECT_EQ(LC_DEVICE_LOST, executor_->state());
    EXPECT_EQ(0u, executor_->load_bytes());
  }
}

// The first steps of a failed launch are still in its stream, so no other launch may begin before
// they end.
TEST_F(CallersThreadFaults, NobodyLaunchesBeforeThatIsOver) {
  HostCallersStream first, second;
  open("fail-launch:1");
  StreamGate gate;
  first.run([&] { gate.wait(); });
  const RequestPointer refused = ctr(first.handle()), next = ctr(second.handle());
  start(refused);
  EXPECT_FALSE(refused->wait_enqueued().ok());
  const int launches = launches_.count;
  EXPECT_FALSE(executor_->start_here(next));
  ASSERT_TRUE(executor_->submit(next));
  Status status;
  EXPECT_FALSE(next->ended(&status));
  gate.open();
  EXPECT_EQ(LC_ERROR_DEVICE, end_of(refused).code());
  EXPECT_EQ(LC_ERROR_DEVICE, next->wait().code());
  EXPECT_EQ(launches, launches_.count);
}

TEST_F(CallersThreadFaults, OfADeviceWithoutMemory) {
  for (int n = 2; n < 12; ++n) {  // after the fixture's own allocations
    open(("no-memory:" + std::to_string(n)).c_str());
    HostCallersStream stream;
    for (int round = 0; round < 2; ++round) {
      const RequestPointer job = chunks(stream.handle());
      start(job);
      const Status status = end_of(job);
      EXPECT_TRUE(status.ok() || status.code() == LC_ERROR_MEMORY) << status.text();
    }
    std::memcpy(data_, plain_.data(), kBytes);
    const RequestPointer job = ctr(stream.handle());
    start(job);
    EXPECT_TRUE(end_of(job).ok());
    EXPECT_TRUE(data() == by_openssl());
    EXPECT_EQ(LC_DEVICE_READY, executor_->state());
    EXPECT_EQ(0u, executor_->load_bytes());
  }
}

TEST_F(CallersThreadFaults, OfACallerWithoutMemory) {
  HostCallersStream stream;
  bool was_enough = false;
  for (int n = 0; !was_enough; ++n) {
    std::memcpy(data_, plain_.data(), kBytes);
    const RequestPointer job = chunks(stream.handle());
    bool has_begun = false, threw = false, struck = false;
    while (!has_begun && !threw) {
      const WantOfMemory want(n);
      try {
        has_begun = executor_->start_here(job);
      } catch (const std::bad_alloc &) {
        threw = true;
      }
      struck = want.has_struck();
      if (!has_begun && !threw) std::this_thread::yield();
    }
    was_enough = has_begun && !struck;
    if (threw) {
      stream.finish();
      EXPECT_EQ(data(), plain_) << "it was said that nothing was begun";
    } else {
      const Status status = end_of(job);
      EXPECT_TRUE(status.ok() || (struck && status.code() == LC_ERROR_MEMORY)) << status.text();
    }
    EXPECT_EQ(0u, executor_->load_bytes()) << n;
  }
  std::memcpy(data_, plain_.data(), kBytes);
  const RequestPointer job = ctr(stream.handle());
  start(job);
  EXPECT_TRUE(end_of(job).ok());
  EXPECT_TRUE(data() == by_openssl());
  EXPECT_EQ(LC_DEVICE_READY, executor_->state());
}

// The device's thread calls the callback, although no thread waits or polls.
TEST_F(CallersThreadFaults, TellsWhoIsToBeTold) {
  HostCallersStream stream;
  open("lost-after:0");
  const RequestPointer lost = ctr(stream.handle());
  start(lost);
  std::atomic<int> calls = 0;
  lost->add_callback([&](const Status &status, const lc_result &) {
    EXPECT_EQ(LC_ERROR_DEVICE, status.code());
    EXPECT_NE(std::this_thread::get_id(), launches_.callers);
    ++calls;
  });
  lost->poll_until_done(runtime::kAtOnce);
  EXPECT_EQ(LC_ERROR_DEVICE, lost->wait().code());
  EXPECT_EQ(1, calls);
  EXPECT_EQ(0u, executor_->load_bytes());
}

// The device's thread then completes the job.
TEST_F(CallersThreadFaults, OfAWaitingCallerWithoutMemory) {
  HostCallersStream stream;
  for (int n = 0; n < 3; ++n) {
    const RequestPointer job = ctr(stream.handle());
    start(job);
    {
      const WantOfMemory want(n);
      job->poll_until_done(runtime::kWhenever);
    }
    EXPECT_TRUE(job->wait().ok());
  }
  EXPECT_EQ(0u, executor_->load_bytes());
}

}  // namespace
}  // namespace lanecrypt::test
