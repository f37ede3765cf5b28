// All available devices in one context. Each gets its share of the jobs.
//
// SPDX-License-Identifier: Apache-2.0
#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr int kMostRounds = 20;

class SeveralDevices : public testing::Test {
 protected:
  void SetUp() override {
    std::string list;
    for (const DeviceCase &device : devices_under_test()) {
      if (device.absent) continue;
      list += (list.empty() ? "" : ",") + device.id;
      ids_.push_back(device.id);
    }
    if (ids_.size() < 2) GTEST_SKIP() << "needs two devices: there is " << list << " alone";
    context_ = std::make_unique<Context>(list.c_str(), LC_FALLBACK_NONE);
    // The devices are opened first, so that the time for opening does not affect the distribution.
    for (uint32_t n = 0; n < ids_.size(); n++) {
      ASSERT_EQ(ids_[n], context_->device(n).id) << "not in the order that was asked for";
      LANECRYPT_ASSERT_OK(lc_device_test(context(), n)) << ids_[n];
    }
  }

  // Checks that all bytes ran on devices, and that none of these failed.
  void TearDown() override {
    if (!context_) return;
    uint64_t bytes = 0, jobs = 0;
    for (uint32_t n = 0; n < ids_.size(); n++) {
      const lc_counters counters = context_->counters(n);
      EXPECT_EQ(0u, counters.failures) << ids_[n];
      bytes += counters.bytes;
      jobs += counters.jobs;
    }
    EXPECT_EQ(bytes_, bytes);
    EXPECT_EQ(jobs_, jobs);
    EXPECT_EQ(0u, context_->counters(LC_CPU).bytes);
  }

  lc_context *context() { return context_->get(); }

  // A pending job and its data.
  struct Started {
    Started(Random &random, const BatchShape &shape) : batch(nullptr, shape, random) {}
    ~Started() {
      if (ticket) lc_ticket_wait(ticket, nullptr);
      lc_ticket_free(ticket);
    }
    Batch batch;
    lc_ticket *ticket = nullptr;
  };

  std::unique_ptr<Started> start(uint32_t device, lc_cipher cipher, uint64_t length) {
    BatchShape shape;
    shape.cipher = cipher;
    shape.direction = LC_DECRYPT;
    shape.key_bytes = 32;
    shape.messages.resize(2);
    for (MessageShape &message : shape.messages) message.length = length / 2;
    auto started = std::make_unique<Started>(random_, shape);
    lc_cipher_job job = started->batch.job();
    job.device = device;
    job.has_device = 1;
    EXPECT_EQ(LC_OK, lc_submit(context(), &job, nullptr, &started->ticket)) << lc_last_error();
    jobs_++;
    bytes_ += length;
    return started;
  }

  void finish(Started &started) {
    EXPECT_EQ(LC_OK, lc_ticket_wait(started.ticket, nullptr)) << lc_last_error();
    EXPECT_EQ("", started.batch.check());
  }

  std::vector<std::string> ids_;
  std::unique_ptr<Context> context_;
  Random random_{71};
  uint64_t jobs_ = 0, bytes_ = 0;
};

// A job that names no device goes to the device with the least work.
TEST_F(SeveralDevices, ShareTheJobs) {
  for (const lc_cipher cipher : {LC_AES_CTR, LC_AES_ECB, LC_AES_CBC}) {
    std::vector<uint64_t> before;
    for (uint32_t n = 0; n < ids_.size(); n++) before.push_back(context_->counters(n).bytes);
    std::vector<std::unique_ptr<Started>> jobs;
    for (size_t n = 0; n < 6 * ids_.size(); n++)
      jobs.push_back(start(LC_ANY_DEVICE, cipher, kMiB / 8));
    for (const std::unique_ptr<Started> &job : jobs) finish(*job);
    for (uint32_t n = 0; n < ids_.size(); n++)
      EXPECT_GT(context_->counters(n).bytes, before[n]) << ids_[n] << " had nothing to do";
  }
}

// A job that names a device runs on that device and no other.
TEST_F(SeveralDevices, TakeWhatNamesThem) {
  std::vector<std::unique_ptr<Started>> jobs;
  for (uint32_t round = 0; round < 3; round++)
    for (uint32_t n = 0; n < ids_.size(); n++) jobs.push_back(start(n, LC_AES_CTR, 4096 * (n + 1)));
  for (const std::unique_ptr<Started> &job : jobs) finish(*job);
  for (uint32_t n = 0; n < ids_.size(); n++) {
    EXPECT_EQ(3u, context_->counters(n).jobs) << ids_[n];
    EXPECT_EQ(3u * 4096 * (n + 1), context_->counters(n).bytes) << ids_[n];
  }
}

// A short job on one device ends while a long one runs on another, and vice versa. Neither waits
// for the other.
TEST_F(SeveralDevices, DoNotWaitForEachOther) {
  for (const uint32_t slow : {0u, 1u}) {
    bool overtaken = false;
    uint64_t length = kMiB;
    for (int round = 0; round < kMostRounds && !overtaken; round++) {
      const std::unique_ptr<Started> one = start(slow, LC_AES_CTR, length);
      const std::unique_ptr<Started> other = start(1 - slow, LC_AES_CTR, 4096);
      finish(*other);
      overtaken = lc_ticket_status(one->ticket) == LC_PENDING;
      finish(*one);
      // A fast device needs a longer job to be kept busy.
      if (!overtaken) length = std::min<uint64_t>(2 * length, 256 * kMiB);
    }
    EXPECT_TRUE(overtaken) << ids_[1 - slow] << " waited for " << ids_[slow];
  }
}

}  // namespace
}  // namespace lanecrypt::test
