// Jobs in streams of the caller's: each in its order, and none waits for the host. On the
// emulator, whose streams a test can hold up.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "device/host/host_device.h"
#include "unit/support/random_bytes.h"
#include "unit/support/reference.h"

namespace lanecrypt::test {
namespace {

using device::HostCallersStream;

// Holds a stream up until it is opened.
class Gate {
 public:
  void hold(HostCallersStream &stream) {
    stream.run([this] {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_open_; });
    });
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

class StreamOrder : public testing::Test {
 protected:
  void SetUp() override {
    lc_options options = {};
    options.struct_size = sizeof options;
    options.devices = "host";
    options.fallback = LC_FALLBACK_NONE;
    ASSERT_EQ(LC_OK, lc_open(&options, &context_)) << lc_last_error();
    Random random(23);
    random.fill(key_.data(), key_.size());
    random.fill(plain_.data(), plain_.size());
    cipher_.resize(plain_.size());
    reference_crypt({LC_AES_CTR, LC_ENCRYPT, 32}, key_.data(), iv_.data(), plain_.data(),
                    cipher_.data(), plain_.size());
    void *memory = nullptr;
    ASSERT_EQ(LC_OK, lc_alloc_device(context_, 0, plain_.size(), &memory)) << lc_last_error();
    data_ = static_cast<uint8_t *>(memory);
    std::memset(data_, 0, plain_.size());
  }
  void TearDown() override {
    lc_free_device(context_, 0, data_);
    lc_close(context_);
  }

  // In place, of all that is in data_.
  lc_status submit(void *stream, lc_ticket **ticket) {
    lc_message message = {};
    message.key = key_.data();
    message.iv = iv_.data();
    message.in = message.out = data_;
    message.length = plain_.size();
    lc_cipher_job job = {};
    job.struct_size = sizeof job;
    job.cipher = LC_AES_CTR;
    job.key_bytes = 32;
    job.memory = LC_MEMORY_DEVICE;
    job.device = LC_ANY_DEVICE;
    job.stream = stream;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    return lc_submit(context_, &job, nullptr, ticket);
  }

  // Puts the input there, has the job do its work and reads the output, all in the stream's
  // order, which a gate holds up until all of it was asked for.
  void run_in(HostCallersStream &stream, void *handle) {
    Gate gate;
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

  lc_context *context_ = nullptr;
  Bytes key_ = Bytes(32), iv_ = Bytes(16, 0xff), plain_ = Bytes(100003), cipher_;
  uint8_t *data_ = nullptr;
};

TEST_F(StreamOrder, OfAStreamThatWasMade) {
  HostCallersStream stream;
  run_in(stream, stream.handle());
}

// The executor's thread, which does the work, has another stream of that name.
TEST_F(StreamOrder, OfTheCallingThreadsDefaultStream) {
  run_in(HostCallersStream::of_this_thread(), LC_STREAM_PER_THREAD);
  std::thread other([this] { run_in(HostCallersStream::of_this_thread(), LC_STREAM_PER_THREAD); });
  other.join();
}

// One that many threads share.
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
