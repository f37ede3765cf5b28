// Asynchronous jobs on every device: every kind of completion, and tickets that are freed early.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

// Counts the calls of a completion's callback, and waits for them.
class Calls {
 public:
  static void called(void *argument, lc_status status) {
    Calls *calls = static_cast<Calls *>(argument);
    std::lock_guard lock(calls->mutex_);
    calls->count_++;
    if (status != LC_OK) calls->status_ = status;
    calls->changed_.notify_all();
  }
  bool wait_for(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(5), [&] { return count_ >= count; });
  }
  int count() {
    std::lock_guard lock(mutex_);
    return count_;
  }
  lc_status status() {
    std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
  lc_status status_ = LC_OK;
};

class EventFd {
 public:
  EventFd() : fd_(eventfd(0, EFD_CLOEXEC)) {}
  ~EventFd() { close(fd_); }
  int get() const { return fd_; }
  // Returns the value that was added to the eventfd, or 0 if none was added within five minutes.
  uint64_t wait() {
    pollfd poll_fd{fd_, POLLIN, 0};
    uint64_t value = 0;
    if (poll(&poll_fd, 1, 300000) != 1 || read(fd_, &value, 8) != 8) return 0;
    return value;
  }

 private:
  int fd_;
};

lc_completion completion(Calls *calls, int fd = -1) {
  lc_completion completion{};
  completion.struct_size = sizeof completion;
  completion.callback = calls ? Calls::called : nullptr;
  completion.argument = calls;
  completion.eventfd = fd;
  return completion;
}

class Submit : public DeviceTest {
 protected:
  Batch make(uint64_t length = 3 << 20) {
    BatchShape shape;
    shape.cipher = LC_AES_CTR;
    shape.key_bytes = 32;
    shape.messages.resize(3);
    for (MessageShape &message : shape.messages) message.length = length + 7;
    return Batch(context(), shape, random_);
  }

  Random random_{3};
};

TEST_P(Submit, Ticket) {
  Batch batch = make();
  lc_cipher_job job = batch.job();
  lc_ticket *ticket = nullptr;
  LANECRYPT_ASSERT_OK(lc_submit(context(), &job, nullptr, &ticket));
  ASSERT_NE(nullptr, ticket);
  lc_status early = lc_ticket_status(ticket);
  EXPECT_TRUE(early == LC_PENDING || early == LC_OK) << early;
  lc_result result{};
  result.struct_size = sizeof result;
  EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, &result)) << lc_last_error();
  EXPECT_EQ(batch.bytes(), result.device_bytes);
  EXPECT_EQ(0u, result.cpu_bytes);
  EXPECT_EQ("", batch.check());
  EXPECT_EQ(LC_OK, lc_ticket_status(ticket));
  EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr)) << "a second wait";
  lc_ticket_free(ticket);
  expect_done(job);
}

TEST_P(Submit, CallbackWithoutTicket) {
  Batch batch = make();
  lc_cipher_job job = batch.job();
  Calls calls;
  lc_completion on_done = completion(&calls);
  LANECRYPT_ASSERT_OK(lc_submit(context(), &job, &on_done, nullptr));
  ASSERT_TRUE(calls.wait_for(1));
  EXPECT_EQ(LC_OK, calls.status());
  EXPECT_EQ("", batch.check()) << "the output must be there when the callback is called";
  expect_done(job);
}

TEST_P(Submit, EventFd) {
  Batch batch = make();
  lc_cipher_job job = batch.job();
  EventFd event;
  lc_completion on_done = completion(nullptr, event.get());
  lc_ticket *ticket = nullptr;
  LANECRYPT_ASSERT_OK(lc_submit(context(), &job, &on_done, &ticket));
  EXPECT_EQ(1u, event.wait());
  EXPECT_EQ(LC_OK, lc_ticket_status(ticket)) << "completed before the end";
  EXPECT_EQ("", batch.check());
  lc_ticket_free(ticket);
  expect_done(job);
}

// Replaces the standard input by another file while it lives.
class StandardInput {
 public:
  explicit StandardInput(int instead) : kept_(fcntl(0, F_DUPFD_CLOEXEC, 3)) { dup2(instead, 0); }
  ~StandardInput() {
    if (kept_ >= 0)
      dup2(kept_, 0);
    else
      close(0);
    close(kept_);
  }

 private:
  int kept_;
};

// A zero-initialised completion must not be taken for file descriptor 0: a socket there would send
// eight bytes to its peer.
TEST_P(Submit, NoEventFdIsZero) {
  Batch batch = make(100);
  int ends[2];
  ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
  Calls calls;
  lc_completion on_done = completion(&calls, 0);
  {
    const StandardInput input(ends[0]);
    lc_cipher_job job = batch.job();
    lc_ticket *ticket = nullptr;
    LANECRYPT_ASSERT_OK(lc_submit(context(), &job, &on_done, &ticket));
    expect_done(job);
    EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr)) << lc_last_error();
    EXPECT_EQ(LC_OK, lc_ticket_notify(ticket, &on_done)) << lc_last_error();
    lc_ticket_free(ticket);
    ASSERT_TRUE(calls.wait_for(2));
  }
  close(ends[0]);
  char byte = 0;
  EXPECT_EQ(0, read(ends[1], &byte, 1)) << "the standard input was written to";
  close(ends[1]);
}

// If the standard input was closed, eventfd() may return 0.
TEST_P(Submit, AnEventFdThatIsZero) {
  Batch batch = make(100);
  EventFd event;
  const lc_completion on_done = completion(nullptr, 0);
  const StandardInput input(event.get());
  lc_cipher_job job = batch.job();
  LANECRYPT_ASSERT_OK(lc_submit(context(), &job, &on_done, nullptr));
  expect_done(job);
  EXPECT_EQ(1u, event.wait());
  EXPECT_EQ("", batch.check());
}

TEST_P(Submit, EventFdAddsOneForEachJob) {
  Batch first = make(100), second = make(5000);
  EventFd event;
  lc_completion on_done = completion(nullptr, event.get());
  for (Batch *batch : {&first, &second}) {
    lc_cipher_job job = batch->job();
    LANECRYPT_ASSERT_OK(lc_submit(context(), &job, &on_done, nullptr));
    expect_done(job);
  }
  for (uint64_t sum = 0; sum < 2;) {
    uint64_t added = event.wait();
    ASSERT_NE(0u, added);
    sum += added;
    ASSERT_LE(sum, 2u);
  }
  EXPECT_EQ("", first.check());
  EXPECT_EQ("", second.check());
}

TEST_P(Submit, TicketFreedWhilePending) {
  Batch batch = make();
  lc_cipher_job job = batch.job();
  Calls calls;
  lc_completion on_done = completion(&calls);
  lc_ticket *ticket = nullptr;
  LANECRYPT_ASSERT_OK(lc_submit(context(), &job, &on_done, &ticket));
  lc_ticket_free(ticket);
  ASSERT_TRUE(calls.wait_for(1));
  EXPECT_EQ("", batch.check());
  expect_done(job);
}

// When lc_submit() returns, the library has its own copies of messages, keys and IVs.
TEST_P(Submit, CopiesWhatItNeeds) {
  for (lc_cipher cipher : {LC_AES_ECB, LC_AES_CBC, LC_AES_CTR}) {
    Bytes text(1 << 20), out(text.size()), expected(text.size());
    Bytes key(32), iv(16);
    for (Bytes *bytes : {&text, &key, &iv}) random_.fill(bytes->data(), bytes->size());
    reference_crypt({cipher, LC_DECRYPT, 32}, key.data(), iv.data(), text.data(), expected.data(),
                    text.size());
    lc_message message = plain_message(key.data(), iv.data(), text.data(), out.data(), text.size());
    lc_cipher_job job{};
    job.struct_size = sizeof job;
    job.cipher = cipher;
    job.direction = LC_DECRYPT;
    job.key_bytes = 32;
    job.device = LC_ANY_DEVICE;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    lc_ticket *ticket = nullptr;
    LANECRYPT_ASSERT_OK(lc_submit(context(), &job, nullptr, &ticket));
    expect_done(job);
    std::fill(key.begin(), key.end(), 0);
    std::fill(iv.begin(), iv.end(), 0);
    message = {};
    job = {};
    EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr)) << lc_last_error();
    EXPECT_EQ(expected, out);
    lc_ticket_free(ticket);
  }
}

TEST_P(Submit, NothingToDoStillTells) {
  lc_cipher_job job{};
  job.struct_size = sizeof job;
  job.key_bytes = 16;
  job.device = LC_ANY_DEVICE;
  job.message_size = sizeof(lc_message);
  Calls calls;
  EventFd event;
  lc_completion on_done = completion(&calls, event.get());
  lc_ticket *ticket = nullptr;
  LANECRYPT_ASSERT_OK(lc_submit(context(), &job, &on_done, &ticket));
  EXPECT_TRUE(calls.wait_for(1));
  EXPECT_EQ(1u, event.wait());
  EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr));
  lc_ticket_free(ticket);
}

TEST_P(Submit, DeviceMemory) {
  BatchShape shape;
  shape.cipher = LC_AES_CBC;
  shape.direction = LC_DECRYPT;
  shape.data_memory = DataMemory::kDevice;
  shape.messages.resize(2);
  for (MessageShape &message : shape.messages) message.length = 160000;
  Batch batch(context(), shape, random_);
  lc_cipher_job job = batch.job();
  lc_ticket *ticket = nullptr;
  LANECRYPT_ASSERT_OK(lc_submit(context(), &job, nullptr, &ticket));
  EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr)) << lc_last_error();
  EXPECT_EQ("", batch.check());
  lc_ticket_free(ticket);
  expect_done(job);
}

TEST_P(Submit, ManyAtOnce) {
  std::vector<std::unique_ptr<Batch>> batches;
  Calls calls;
  lc_completion on_done = completion(&calls);
  const int jobs = static_cast<int>(scaled(200));
  for (int n = 0; n < jobs; n++) {
    BatchShape shape = random_shape(random_, 5, 4000);
    if (shape.data_memory == DataMemory::kDevice) shape.data_memory = DataMemory::kHost;
    batches.push_back(std::make_unique<Batch>(context(), shape, random_));
  }
  for (const std::unique_ptr<Batch> &batch : batches) {
    lc_cipher_job job = batch->job();
    LANECRYPT_ASSERT_OK(lc_submit(context(), &job, &on_done, nullptr));
    expect_done(job);
  }
  ASSERT_TRUE(calls.wait_for(jobs));
  EXPECT_EQ(LC_OK, calls.status());
  for (const std::unique_ptr<Batch> &batch : batches)
    EXPECT_EQ("", batch->check()) << batch->shape().name();
  EXPECT_EQ(jobs, calls.count());
}

// lc_close() waits for pending jobs. Each completion occurs once.
TEST_P(Submit, CloseWithJobsUnderWay) {
  Context other(GetParam().id.c_str(), LC_FALLBACK_NONE);
  BatchShape shape;
  shape.cipher = LC_AES_CTR;
  shape.messages.resize(1);
  shape.messages[0].length = (5 << 20) + 3;
  std::vector<std::unique_ptr<Batch>> batches;
  Calls calls;
  lc_completion on_done = completion(&calls);
  for (int n = 0; n < 6; n++) {
    batches.push_back(std::make_unique<Batch>(other.get(), shape, random_));
    lc_cipher_job job = batches.back()->job();
    LANECRYPT_ASSERT_OK(lc_submit(other.get(), &job, &on_done, nullptr));
  }
  other.close();
  EXPECT_EQ(6, calls.count());
  EXPECT_EQ(LC_OK, calls.status());
  for (const std::unique_ptr<Batch> &batch : batches) EXPECT_EQ("", batch->check());
}

TEST_P(Submit, ErrorsTellNobody) {
  Batch batch = make(16);
  lc_cipher_job job = batch.job();
  lc_ticket *ticket = nullptr;
  Calls calls;
  lc_completion on_done = completion(&calls);
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_submit(context(), &job, nullptr, nullptr))
      << "neither completion nor ticket";
  EXPECT_NE("", std::string(lc_last_error()));
  job.key_bytes = 17;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_submit(context(), &job, &on_done, &ticket));
  EXPECT_NE("", std::string(lc_last_error()));
  job.key_bytes = 32;
  on_done.struct_size = 0;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_submit(context(), &job, &on_done, &ticket));
  EXPECT_EQ(nullptr, ticket);
  EXPECT_EQ(0, calls.count());
  lc_ticket_free(nullptr);
}

INSTANTIATE_TEST_SUITE_P(, Submit, testing::ValuesIn(devices_under_test()), device_case_name);

}  // namespace
}  // namespace lanecrypt::test
