// Jobs in the caller's streams run in stream order, and the stream never waits for the host. Runs
// on the emulator, whose streams a test can hold up and whose device memory it can read.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "unit/support/emulator.h"
#include "unit/support/one_message.h"
#include "unit/support/random_bytes.h"
#include "unit/support/reference.h"

namespace lanecrypt::test {
namespace {

using device::HostCallersStream;

class StreamOrder : public testing::Test {
 protected:
  StreamOrder() {
    Random random(23);
    random.fill(key_.data(), key_.size());
    random.fill(plain_.data(), plain_.size());
    cipher_.resize(plain_.size());
    reference_crypt({LC_AES_CTR, LC_ENCRYPT, 32}, key_.data(), iv_.data(), plain_.data(),
                    cipher_.data(), plain_.size());
    std::memset(data_, 0, plain_.size());
  }

  lc_message message_of(const uint8_t *in, uint8_t *out) const {
    return plain_message(key_.data(), iv_.data(), in, out, plain_.size());
  }

  // Submits a job over all of data_, in place.
  lc_status submit(void *stream, lc_ticket **ticket) {
    const lc_message message = message_of(data_, data_);
    lc_cipher_job job = job_of(message, LC_AES_CTR);
    job.memory = LC_MEMORY_DEVICE;
    job.stream = stream;
    return lc_submit(context_, &job, nullptr, ticket);
  }

  // Enqueues a write of the input, the job and a read of the output in one stream. A gate holds up
  // the stream until all of it is enqueued.
  void run_in(HostCallersStream &stream, void *handle) {
    StreamGate gate;
    std::memset(data_, 0, plain_.size());
    Bytes before, after(plain_.size());
    gate.hold(stream);
    stream.run([&] { std::memcpy(data_, plain_.data(), plain_.size()); });
    lc_ticket *ticket = nullptr;
    ASSERT_EQ(LC_OK, submit(handle, &ticket)) << lc_last_error();
    EXPECT_EQ(LC_PENDING, lc_ticket_status(ticket));
    before.assign(data_, data_ + plain_.size());
    stream.run([&] { std::memcpy(after.data(), data_, after.size()); });
    gate.open();
    stream.finish();
    EXPECT_EQ(before, Bytes(plain_.size())) << "it ran before its turn";
    EXPECT_TRUE(after == cipher_);
    EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr)) << lc_last_error();
    lc_ticket_free(ticket);
  }

  static constexpr size_t kBytes = 100003;
  Bytes key_ = Bytes(32), iv_ = Bytes(16, 0xff), plain_ = Bytes(kBytes), cipher_;
  const Emulator emulator_{kBytes};
  lc_context *const context_ = emulator_.context();
  uint8_t *const data_ = emulator_.data();
};

TEST_F(StreamOrder, OfAStreamThatWasMade) {
  HostCallersStream stream;
  run_in(stream, stream.handle());
}

// The executor's thread, which does the work, has another per-thread default stream.
TEST_F(StreamOrder, OfTheCallingThreadsDefaultStream) {
  run_in(HostCallersStream::of_this_thread(), LC_STREAM_PER_THREAD);
  std::thread other([this] { run_in(HostCallersStream::of_this_thread(), LC_STREAM_PER_THREAD); });
  other.join();
}

// Downloads begin when all earlier work in the stream is done.
TEST_F(StreamOrder, OfWhatGoesToHostMemory) {
  HostCallersStream stream;
  HostCallersStream &own = HostCallersStream::of_this_thread();
  for (const bool submits : {false, true})
    for (HostCallersStream *each : {&stream, &own}) {
      StreamGate gate;
      std::memset(data_, 0, plain_.size());
      Bytes out(plain_.size());
      gate.hold(*each);
      each->run([&] { std::memcpy(data_, plain_.data(), plain_.size()); });
      const lc_message message = message_of(data_, out.data());
      lc_cipher_job job = job_of(message, LC_AES_CTR);
      job.memory = LC_MEMORY_DEVICE_TO_HOST;
      job.stream = each == &own ? LC_STREAM_PER_THREAD : each->handle();
      std::thread opener([&gate] {
        // By then a job that did not wait would have read zeros.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        gate.open();
      });
      lc_ticket *ticket = nullptr;
      if (submits) {
        EXPECT_EQ(LC_ERROR_ARGUMENT, lc_submit(context_, &job, nullptr, nullptr))
            << "nobody would learn of the end";
        EXPECT_EQ(LC_OK, lc_submit(context_, &job, nullptr, &ticket)) << lc_last_error();
        EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr)) << lc_last_error();
        lc_ticket_free(ticket);
      } else {
        EXPECT_EQ(LC_OK, lc_run(context_, &job, nullptr)) << lc_last_error();
      }
      opener.join();
      EXPECT_TRUE(out == cipher_);
    }
}

// The legacy default stream, which all threads share.
TEST_F(StreamOrder, OfTheLegacyDefaultStream) {
  std::memcpy(data_, plain_.data(), plain_.size());
  lc_ticket *first = nullptr, *second = nullptr;
  ASSERT_EQ(LC_OK, submit(LC_STREAM_LEGACY, &first)) << lc_last_error();
  ASSERT_EQ(LC_OK, submit(LC_STREAM_LEGACY, &second)) << lc_last_error();
  EXPECT_EQ(LC_OK, lc_ticket_wait(second, nullptr)) << lc_last_error();
  EXPECT_EQ(LC_OK, lc_ticket_wait(first, nullptr)) << lc_last_error();
  EXPECT_EQ(Bytes(data_, data_ + plain_.size()), plain_) << "twice the same keystream";
  lc_ticket_free(first);
  lc_ticket_free(second);
}

// Seals, changes a tag and opens. All of it is enqueued before any of it may begin, so tags and
// verdicts are passed on in the stream without the host.
TEST_F(StreamOrder, TagsAndVerdicts) {
  for (lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305, LC_AES_CCM}) {
    constexpr size_t kMessages = 3;
    const size_t length = plain_.size() / kMessages;
    void *memory = nullptr;
    ASSERT_EQ(LC_OK, lc_alloc_device(context_, 0, 64, &memory)) << lc_last_error();
    uint8_t *const tags = static_cast<uint8_t *>(memory), *const verdicts = tags + 16 * kMessages;
    std::memset(tags, 0xa5, 64);
    lc_message messages[kMessages] = {};
    std::vector<Bytes> ivs;
    for (size_t n = 0; n < kMessages; n++) ivs.push_back(Bytes(12, static_cast<uint8_t>(n)));
    for (size_t n = 0; n < kMessages; n++) {
      messages[n].key = key_.data();
      messages[n].iv = ivs[n].data();
      messages[n].in = messages[n].out = data_ + n * length;
      messages[n].length = length;
      messages[n].tag = tags + 16 * n;
    }
    lc_cipher_job job = {};
    job.struct_size = sizeof job;
    job.cipher = cipher;
    job.key_bytes = 32;
    job.memory = job.tag_memory = LC_MEMORY_DEVICE;
    job.device = LC_ANY_DEVICE;
    job.messages = messages;
    job.message_count = kMessages;
    job.message_size = sizeof messages[0];

    HostCallersStream stream;
    StreamGate gate;
    gate.hold(stream);
    job.stream = stream.handle();
    stream.run([&] { std::memcpy(data_, plain_.data(), plain_.size()); });
    ASSERT_EQ(LC_OK, lc_submit(context_, &job, nullptr, nullptr)) << lc_last_error();
    Bytes sealed(plain_.size()), made(16 * kMessages);
    stream.run([&] {
      std::memcpy(sealed.data(), data_, sealed.size());
      std::memcpy(made.data(), tags, made.size());
      tags[16] ^= 1;
    });
    job.direction = LC_DECRYPT;
    job.verdicts = verdicts;
    ASSERT_EQ(LC_OK, lc_submit(context_, &job, nullptr, nullptr)) << lc_last_error();
    Bytes opened(plain_.size()), told(kMessages);
    stream.run([&] {
      std::memcpy(opened.data(), data_, opened.size());
      std::memcpy(told.data(), verdicts, told.size());
    });
    EXPECT_EQ(0xa5, verdicts[0]) << "before its turn";
    gate.open();
    stream.finish();

    EXPECT_EQ(told, (Bytes{1, 0, 1}));
    Bytes expected = plain_;
    std::fill_n(expected.begin() + length, length, 0);
    expected.resize(kMessages * length);
    opened.resize(kMessages * length);
    EXPECT_TRUE(opened == expected) << "the message with the wrong tag is to be zeros";
    for (size_t n = 0; n < kMessages; n++) {
      Bytes cipher_text(length), tag(16);
      reference_seal({cipher, 32, key_.data(), ivs[n], {}}, plain_.data() + n * length,
                     cipher_text.data(), length, tag.data());
      EXPECT_TRUE(std::equal(cipher_text.begin(), cipher_text.end(), sealed.begin() + n * length));
      EXPECT_TRUE(std::equal(tag.begin(), tag.end(), made.begin() + 16 * n)) << "tag " << n;
    }
    lc_free_device(context_, 0, memory);
  }
}

// More jobs than the device has slots for chunks.
TEST_F(StreamOrder, ManyJobsWait) {
  HostCallersStream stream;
  StreamGate gate;
  gate.hold(stream);
  stream.run([&] { std::memcpy(data_, plain_.data(), plain_.size()); });
  constexpr int kJobs = 41;
  for (int n = 0; n < kJobs; n++)
    ASSERT_EQ(LC_OK, submit(stream.handle(), nullptr)) << lc_last_error();
  // A job without a stream does not wait for them.
  Bytes text = plain_;
  const lc_message message = message_of(text.data(), text.data());
  lc_cipher_job job = job_of(message, LC_AES_CTR);
  job.device = 0;
  job.has_device = 1;
  EXPECT_EQ(LC_OK, lc_run(context_, &job, nullptr)) << lc_last_error();
  EXPECT_TRUE(text == cipher_);
  gate.open();
  stream.finish();
  EXPECT_TRUE(Bytes(data_, data_ + plain_.size()) == cipher_);
}

// A child of fork can use the device, even if the parent is using it.
TEST_F(StreamOrder, OfAChildOfFork) {
  HostCallersStream stream;
  StreamGate gate;
  gate.hold(stream);
  lc_ticket *ticket = nullptr;
  for (int n = 0; n < 2; n++)
    ASSERT_EQ(LC_OK, submit(stream.handle(), n == 0 ? nullptr : &ticket)) << lc_last_error();
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    HostCallersStream own;
    own.run([&] { std::memcpy(data_, plain_.data(), plain_.size()); });
    // The first job opens the device.
    for (int n = 0; n < 3; n++) {
      lc_ticket *last = nullptr;
      if (submit(own.handle(), &last) != LC_OK || lc_ticket_wait(last, nullptr) != LC_OK) _exit(1);
    }
    _exit(std::equal(cipher_.begin(), cipher_.end(), data_) ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  gate.open();
  EXPECT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr)) << lc_last_error();
  lc_ticket_free(ticket);
}

// Tickets are freed early, a callback submits another job, and the context is closed at the end.
TEST_F(StreamOrder, NobodyKeepsTheTicket) {
  HostCallersStream stream, other;
  StreamGate gate;
  gate.hold(stream);
  stream.run([&] { std::memcpy(data_, plain_.data(), plain_.size()); });
  lc_ticket *freed = nullptr, *kept = nullptr;
  ASSERT_EQ(LC_OK, submit(stream.handle(), &freed)) << lc_last_error();
  lc_ticket_free(freed);
  ASSERT_EQ(LC_OK, submit(stream.handle(), &kept)) << lc_last_error();
  EXPECT_EQ(LC_PENDING, lc_ticket_status(kept));

  Bytes text = plain_;
  const lc_message message = message_of(text.data(), text.data());
  lc_cipher_job job = job_of(message, LC_AES_CTR);
  job.device = 0;
  job.has_device = 1;
  lc_completion asks = {};
  asks.struct_size = sizeof asks;
  asks.eventfd = -1;
  asks.argument = kept;
  asks.callback = [](void *argument, lc_status) {
    EXPECT_EQ(LC_PENDING, lc_ticket_status(static_cast<lc_ticket *>(argument)));
    EXPECT_EQ(LC_PENDING, lc_ticket_result(static_cast<lc_ticket *>(argument), nullptr));
  };
  lc_ticket *asking = nullptr;
  ASSERT_EQ(LC_OK, lc_submit(context_, &job, &asks, &asking)) << lc_last_error();
  EXPECT_EQ(LC_OK, lc_ticket_wait(asking, nullptr)) << lc_last_error();
  lc_ticket_free(asking);
  EXPECT_TRUE(text == cipher_);
  gate.open();
  EXPECT_EQ(LC_OK, lc_ticket_wait(kept, nullptr)) << lc_last_error();
  lc_ticket_free(kept);
  EXPECT_EQ(Bytes(data_, data_ + plain_.size()), plain_) << "twice the same keystream";
}

// Calls exit() while other threads enqueue jobs and wait for them. It runs in a separate process,
// which runs this test from its beginning.
TEST_F(StreamOrder, OfAProcessThatEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run_until_exit = [this] {
    std::atomic<int> done = 0;
    const auto run = [&] {
      auto *const stream = new HostCallersStream;
      lc_ticket *ticket = nullptr;
      while (submit(stream->handle(), &ticket) == LC_OK) {
        (void)lc_ticket_wait(ticket, nullptr);
        lc_ticket_free(ticket);
        ++done;
      }
      while (true) pause();  // exit() has stopped the device, and will end the process
    };
    for (int n = 0; n < 3; n++) std::thread(run).detach();
    while (done < 30) std::this_thread::yield();
    exit(3);
  };
  EXPECT_EXIT(run_until_exit(), testing::ExitedWithCode(3), "");
}

TEST_F(StreamOrder, RefusesWhatIsNoStream) {
  int nothing = 0;
  lc_ticket *ticket = nullptr;
  ASSERT_EQ(LC_OK, submit(&nothing, &ticket)) << lc_last_error();
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_ticket_wait(ticket, nullptr));
  EXPECT_STREQ("this is no stream of host:0", lc_last_error());
  lc_ticket_free(ticket);
  lc_device_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(LC_OK, lc_device_get(context_, 0, &info));
  EXPECT_EQ(LC_DEVICE_READY, info.state) << "the device did nothing wrong";
}

}  // namespace
}  // namespace lanecrypt::test
