// Callbacks that are added after a job has begun, and waits with a timeout. Runs on the emulator,
// whose streams a test can hold up.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "unit/support/emulator.h"
#include "unit/support/one_message.h"
#include "unit/support/random_bytes.h"
#include "unit/support/reference.h"

namespace lanecrypt::test {
namespace {

using device::HostCallersStream;

constexpr uint64_t kMillisecond = 1'000'000;

// Records the calls of a completion's callback, and the threads that made them.
class Calls {
 public:
  lc_completion completion() {
    lc_completion completion = {};
    completion.struct_size = sizeof completion;
    completion.argument = this;
    completion.eventfd = -1;
    completion.callback = [](void *argument, lc_status status) {
      static_cast<Calls *>(argument)->add(status);
    };
    return completion;
  }
  void wait_for(size_t times) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return statuses_.size() >= times; });
  }
  std::vector<lc_status> statuses() {
    std::lock_guard lock(mutex_);
    return statuses_;
  }
  std::set<std::thread::id> threads() {
    std::lock_guard lock(mutex_);
    return threads_;
  }

 private:
  void add(lc_status status) {
    std::lock_guard lock(mutex_);
    statuses_.push_back(status);
    threads_.insert(std::this_thread::get_id());
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<lc_status> statuses_;
  std::set<std::thread::id> threads_;
};

const std::vector<lc_status> kOnce = {LC_OK};

class Notify : public testing::Test {
 protected:
  Notify() {
    Random random(29);
    random.fill(key_.data(), key_.size());
    random.fill(plain_.data(), plain_.size());
    std::memcpy(data_, plain_.data(), plain_.size());
  }

  // Submits AES-CTR in place, over data_ if `stream` is given.
  lc_ticket *submit(void *stream, uint32_t device = LC_ANY_DEVICE,
                    const lc_completion *completion = nullptr) {
    uint8_t *const text = stream != nullptr ? data_ : text_.data();
    const lc_message message = plain_message(key_.data(), iv_.data(), text, text, plain_.size());
    lc_cipher_job job = job_of(message, LC_AES_CTR);
    job.memory = stream != nullptr ? LC_MEMORY_DEVICE : LC_MEMORY_HOST;
    job.device = device;
    job.has_device = 1;
    job.stream = stream;
    lc_ticket *ticket = nullptr;
    EXPECT_EQ(LC_OK, lc_submit(emulator_.context(), &job, completion, &ticket)) << lc_last_error();
    return ticket;
  }

  void notify(lc_ticket *ticket, Calls &calls) {
    const lc_completion completion = calls.completion();
    EXPECT_EQ(LC_OK, lc_ticket_notify(ticket, &completion)) << lc_last_error();
  }

  Bytes data() const { return Bytes(data_, data_ + plain_.size()); }

  static constexpr size_t kBytes = 1003;
  Bytes key_ = Bytes(32), iv_ = Bytes(16, 0xff), plain_ = Bytes(kBytes), text_ = Bytes(kBytes);
  Emulator emulator_{kBytes};
  uint8_t *const data_ = emulator_.data();
};

// No thread polls or waits for the job, which waits for its stream.
TEST_F(Notify, OfAJobInAStream) {
  HostCallersStream stream;
  StreamGate gate;
  gate.hold(stream);
  lc_ticket *const ticket = submit(stream.handle());
  Calls calls;
  lc_result result = {};
  result.struct_size = sizeof result;
  lc_completion completion = calls.completion();
  completion.result = &result;
  completion.eventfd = eventfd(0, EFD_CLOEXEC);
  EXPECT_EQ(LC_OK, lc_ticket_notify(ticket, &completion)) << lc_last_error();
  EXPECT_TRUE(calls.statuses().empty());
  EXPECT_EQ(LC_PENDING, lc_ticket_status(ticket));
  gate.open();
  eventfd_t count = 0;
  EXPECT_EQ(0, eventfd_read(completion.eventfd, &count));
  close(completion.eventfd);
  EXPECT_EQ(1u, count);
  EXPECT_EQ(kOnce, calls.statuses());
  EXPECT_FALSE(calls.threads().contains(std::this_thread::get_id()));
  EXPECT_EQ(plain_.size(), result.device_bytes);
  EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr)) << lc_last_error();
  EXPECT_EQ(LC_OK, lc_ticket_status(ticket));
  lc_ticket_free(ticket);
  EXPECT_EQ(kOnce, calls.statuses());
}

TEST_F(Notify, EachOnceAndWhoComesLateAtOnce) {
  HostCallersStream stream;
  StreamGate gate;
  gate.hold(stream);
  lc_ticket *const ticket = submit(stream.handle());
  Calls early[3], late;
  for (Calls &calls : early) notify(ticket, calls);
  gate.open();
  EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr)) << lc_last_error();
  for (Calls &calls : early) EXPECT_EQ(kOnce, calls.statuses());
  notify(ticket, late);
  EXPECT_EQ(kOnce, late.statuses());
  EXPECT_EQ(late.threads(), std::set{std::this_thread::get_id()});
  lc_ticket_free(ticket);
  for (Calls &calls : early) EXPECT_EQ(kOnce, calls.statuses());
}

TEST_F(Notify, OfJobsInHostMemory) {
  for (const uint32_t device : {uint32_t{0}, LC_CPU}) {
    Calls first, second;
    const lc_completion completion = first.completion();
    lc_ticket *const ticket = submit(nullptr, device, &completion);
    notify(ticket, second);
    EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr)) << lc_last_error();
    lc_ticket_free(ticket);
    EXPECT_EQ(kOnce, first.statuses());
    EXPECT_EQ(kOnce, second.statuses());
  }
}

// Threads poll and wait for the job while another adds a callback. One of them may be using the
// device when the job ends. None of them may call the callback.
TEST_F(Notify, WhileOthersAskAndWait) {
  HostCallersStream stream;
  constexpr int kJobs = 60;
  for (int n = 0; n < kJobs; ++n) {
    lc_ticket *const ticket = submit(stream.handle());
    Calls calls;
    std::atomic<int> begun = 0;
    std::vector<std::thread> others;
    const auto begin = [&](auto work) {
      others.emplace_back([&begun, work] {
        ++begun;
        work();
      });
    };
    begin([ticket] {
      while (lc_ticket_status(ticket) == LC_PENDING) std::this_thread::yield();
    });
    begin([ticket] { EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr)); });
    begin([ticket] {
      while (lc_ticket_wait_for(ticket, kMillisecond / 10, nullptr) == LC_PENDING) continue;
    });
    while (n % 3 != 0 && begun < n % 4) std::this_thread::yield();
    notify(ticket, calls);
    calls.wait_for(1);
    std::set<std::thread::id> asking;
    for (std::thread &other : others) asking.insert(other.get_id());
    for (std::thread &other : others) other.join();
    EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr));
    lc_ticket_free(ticket);
    EXPECT_EQ(kOnce, calls.statuses());
    for (const std::thread::id &thread : calls.threads()) EXPECT_FALSE(asking.contains(thread));
  }
  EXPECT_EQ(data(), plain_) << "an even number of times the same keystream";
}

// More jobs than there are slots. Their tickets are freed at once.
TEST_F(Notify, ThousandsThatNobodyKeeps) {
  HostCallersStream stream;
  constexpr size_t kJobs = 2000;
  Calls calls;
  for (size_t n = 0; n < kJobs; ++n) {
    lc_ticket *const ticket = submit(stream.handle());
    if (n % 2 == 0) notify(ticket, calls);
    lc_ticket_free(ticket);
  }
  calls.wait_for(kJobs / 2);
  stream.finish();
  EXPECT_EQ(std::vector(kJobs / 2, LC_OK), calls.statuses());
  EXPECT_EQ(data(), plain_) << "an even number of times the same keystream";
}

TEST_F(Notify, WhenTheContextIsClosed) {
  HostCallersStream stream;
  StreamGate gate;
  gate.hold(stream);
  lc_ticket *const kept = submit(stream.handle()), *const freed = submit(stream.handle());
  Calls calls[2], late;
  notify(kept, calls[0]);
  notify(freed, calls[1]);
  lc_ticket_free(freed);
  std::thread closer([this] { emulator_.close(); });
  gate.open();
  closer.join();
  for (Calls &one : calls) EXPECT_EQ(kOnce, one.statuses());
  notify(kept, late);
  EXPECT_EQ(kOnce, late.statuses());
  EXPECT_EQ(LC_OK, lc_ticket_wait_for(kept, 0, nullptr));
  lc_ticket_free(kept);
}

TEST_F(Notify, AWaitWithALimit) {
  HostCallersStream stream;
  StreamGate gate;
  gate.hold(stream);
  lc_result result = {};
  result.struct_size = sizeof result;
  for (const bool has_callback : {false, true}) {
    lc_ticket *const ticket = submit(stream.handle());
    Calls calls;
    if (has_callback) notify(ticket, calls);
    if (!has_callback) {
      EXPECT_EQ(LC_PENDING, lc_ticket_wait_for(ticket, 0, &result));
      EXPECT_EQ(LC_PENDING, lc_ticket_wait_for(ticket, kMillisecond / 2, &result));
      EXPECT_EQ(LC_PENDING, lc_ticket_wait_for(ticket, 3 * kMillisecond, &result));
      EXPECT_EQ(0u, result.device_bytes);
      gate.open();
    }
    EXPECT_EQ(LC_OK, lc_ticket_wait_for(ticket, UINT64_MAX, &result)) << lc_last_error();
    EXPECT_EQ(plain_.size(), result.device_bytes);
    EXPECT_EQ(LC_OK, lc_ticket_wait_for(ticket, 0, nullptr));
    EXPECT_EQ(has_callback ? kOnce : std::vector<lc_status>(), calls.statuses());
    lc_ticket_free(ticket);
  }
}

// The callback runs on the device's own thread, so none of the calls that it makes may wait for
// that thread.
TEST_F(Notify, ACallbackUsesMemoryAndStartsJobs) {
  HostCallersStream stream;
  struct Chained {
    lc_context *context;
    lc_cipher_job next, in_stream;
    lc_completion on_done;
    uint8_t byte = 0;
    std::vector<lc_status> statuses;
  } chained = {};
  Calls calls;
  const lc_message next = plain_message(key_.data(), iv_.data(), text_.data(), text_.data(), 100);
  const lc_message there = plain_message(key_.data(), iv_.data(), data_, data_, plain_.size());
  chained.context = emulator_.context();
  chained.next = job_of(next, LC_AES_CTR);
  chained.in_stream = job_of(there, LC_AES_CTR);
  chained.in_stream.memory = LC_MEMORY_DEVICE;
  chained.in_stream.stream = stream.handle();
  chained.on_done = calls.completion();
  lc_completion completion = chained.on_done;
  completion.argument = &chained;
  completion.callback = [](void *argument, lc_status status) {
    Chained &its = *static_cast<Chained *>(argument);
    void *memory = nullptr;
    const uint8_t byte = 0x5a;
    its.statuses = {status,
                    lc_alloc_device(its.context, 0, 100, &memory),
                    lc_copy_to_device(its.context, 0, memory, &byte, 1),
                    lc_copy_from_device(its.context, 0, &its.byte, memory, 1),
                    lc_free_device(its.context, 0, memory),
                    lc_submit(its.context, &its.in_stream, &its.on_done, nullptr),
                    lc_submit(its.context, &its.next, &its.on_done, nullptr)};
  };
  lc_ticket *const ticket = submit(nullptr, 0, &completion);
  if (lc_ticket_wait_for(ticket, 60'000 * kMillisecond, nullptr) == LC_PENDING) {
    ADD_FAILURE() << "the callback waits for its own thread";
    std::abort();  // lc_close() would wait too
  }
  calls.wait_for(1);
  const std::vector<lc_status> right = {LC_OK, LC_OK, LC_OK, LC_OK, LC_OK, LC_ERROR_ARGUMENT,
                                        LC_OK};
  EXPECT_EQ(right, chained.statuses);
  EXPECT_EQ(0x5a, chained.byte);
  EXPECT_EQ(kOnce, calls.statuses());
  EXPECT_EQ(data(), plain_) << "nothing was put into the stream";
  lc_ticket_free(ticket);
}

TEST_F(Notify, RefusesWhatIsNoCompletion) {
  lc_ticket *const ticket = submit(nullptr, LC_CPU);
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_ticket_notify(ticket, nullptr));
  Calls calls;
  lc_completion small = calls.completion();
  small.struct_size = sizeof(size_t);
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_ticket_notify(ticket, &small));
  EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr)) << lc_last_error();
  lc_ticket_free(ticket);
  EXPECT_TRUE(calls.statuses().empty());
}

}  // namespace
}  // namespace lanecrypt::test
