// A device that is lost or returns wrong output in the middle of a job. The emulator simulates both
// (LANECRYPT_HOST_FAULT).
//
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// The emulator with a fault, in a table form, which launches two kernels for each chunk: one for
// the keys and one for the data.
class LostDevice : public testing::Test {
 protected:
  void open(const char *fault, lc_fallback fallback) {
    context_.reset();
    form_.reset();
    fault_.reset();  // restores the old value before a new one is set
    fault_ = std::make_unique<ScopedEnvironment>("LANECRYPT_HOST_FAULT", fault);
    form_ = std::make_unique<ScopedEnvironment>("LANECRYPT_AES_FORM", "table1");
    context_ = std::make_unique<Context>("host", fallback);
  }
  lc_context *context() { return context_->get(); }

  // Each job takes three chunks or more. The device is lost when it starts the third. By then the
  // first has been downloaded, and the second may be lost with the device.
  static constexpr const char *kAfterTwoChunks = "lost-after:4";
  static std::vector<BatchShape> shapes() {
    std::vector<BatchShape> shapes;
    auto add = [&](lc_cipher cipher, lc_direction direction, bool in_place,
                   std::vector<uint64_t> lengths) {
      BatchShape shape;
      shape.cipher = cipher;
      shape.direction = direction;
      shape.key_bytes = 24;
      for (uint64_t length : lengths) {
        MessageShape message;
        message.length = length;
        message.in_place = in_place;
        message.in_alignment = 5;
        message.key = static_cast<uint32_t>(shape.messages.size() % 3);
        shape.messages.push_back(message);
      }
      shapes.push_back(shape);
    };
    for (bool in_place : {true, false}) {
      if (!in_place && scaled(10) < 10) break;  // the in-place half is harder and is enough there
      add(LC_AES_CTR, LC_ENCRYPT, in_place, {33 * kMiB + 5});
      add(LC_AES_ECB, LC_DECRYPT, in_place, {20 * kMiB, 13 * kMiB, 1600});
      add(LC_AES_CBC, LC_DECRYPT, in_place, {1600, 33 * kMiB});
      // Streams in slices continue from the last block that was done.
      add(LC_AES_CBC, LC_ENCRYPT, in_place, std::vector<uint64_t>(40, kMiB));
    }
    return shapes;
  }

  std::unique_ptr<ScopedEnvironment> fault_, form_;
  std::unique_ptr<Context> context_;
  Random random_{12};
};

TEST_F(LostDevice, TheCpuDoesTheRest) {
  for (const BatchShape &shape : shapes()) {
    SCOPED_TRACE(shape.name());
    open(kAfterTwoChunks, LC_FALLBACK_CPU);
    Batch batch(context(), shape, random_);
    lc_cipher_job job = batch.job();
    lc_result result{};
    result.struct_size = sizeof result;
    LANECRYPT_ASSERT_OK(lc_run(context(), &job, &result));
    EXPECT_EQ("", batch.check());
    EXPECT_GT(result.device_bytes, 0u);
    EXPECT_GT(result.cpu_bytes, 0u);
    EXPECT_EQ(batch.bytes(), result.device_bytes + result.cpu_bytes);

    lc_counters device = context_->counters(0), cpu = context_->counters(LC_CPU);
    EXPECT_EQ(result.device_bytes, device.bytes);
    EXPECT_EQ(result.cpu_bytes, cpu.bytes);
    EXPECT_EQ(1u, device.jobs);
    EXPECT_EQ(1u, cpu.jobs);
    EXPECT_GE(device.failures, 1u);
    lc_device_info info = context_->device(0);
    EXPECT_EQ(LC_DEVICE_LOST, info.state);
    EXPECT_NE(std::string::npos, std::string(info.reason).find("lost")) << info.reason;
  }
}

TEST_F(LostDevice, WithoutTheCpuOutputsAreWholePiecesOrUntouched) {
  for (const BatchShape &shape : shapes()) {
    SCOPED_TRACE(shape.name());
    open(kAfterTwoChunks, LC_FALLBACK_NONE);
    Batch batch(context(), shape, random_);
    lc_cipher_job job = batch.job();
    lc_result result{};
    result.struct_size = sizeof result;
    EXPECT_EQ(LC_ERROR_DEVICE, lc_run(context(), &job, &result));
    const std::string why = lc_last_error();
    EXPECT_NE(std::string::npos, why.find("lost")) << why;
    EXPECT_EQ("", batch.check_pieces_or_untouched());
    EXPECT_NE("", batch.check()) << "the job cannot be whole";
    EXPECT_EQ(0u, context_->counters(LC_CPU).bytes);
  }
}

TEST_F(LostDevice, AtItsFirstJob) {
  for (lc_fallback fallback : {LC_FALLBACK_CPU, LC_FALLBACK_NONE}) {
    open("lost-after:0", fallback);
    BatchShape shape;
    shape.cipher = LC_AES_CBC;
    shape.messages = {{.length = 4096, .in_place = true}, {.length = 16}};
    Batch batch(context(), shape, random_);
    lc_cipher_job job = batch.job();
    if (fallback == LC_FALLBACK_CPU) {
      LANECRYPT_ASSERT_OK(lc_run(context(), &job, nullptr));
      EXPECT_EQ("", batch.check());
      EXPECT_EQ(0u, context_->counters(0).bytes);
      EXPECT_EQ(batch.bytes(), context_->counters(LC_CPU).bytes);
      // The device stays out of service.
      LANECRYPT_ASSERT_OK(lc_run(context(), &job, nullptr));
      EXPECT_EQ(0u, context_->counters(0).bytes);
    } else {
      EXPECT_EQ(LC_ERROR_DEVICE, lc_run(context(), &job, nullptr));
      EXPECT_EQ("", batch.check_pieces_or_untouched());
      const lc_status again = lc_run(context(), &job, nullptr);
      EXPECT_TRUE(again == LC_ERROR_DEVICE || again == LC_ERROR_NO_DEVICE) << again;
      const std::string why = lc_last_error();
      EXPECT_NE(std::string::npos, why.find("lost")) << "it says: " << why;
    }
  }
}

TEST_F(LostDevice, WithJobsInItsMemory) {
  open("lost-after:0", LC_FALLBACK_CPU);
  LANECRYPT_ASSERT_OK(lc_device_test(context(), 0));
  void *memory = nullptr;
  LANECRYPT_ASSERT_OK(lc_alloc_device(context(), 0, 4096, &memory));
  const uint8_t key[16] = {};
  const lc_message message = plain_message(key, key, memory, memory, 4096);
  lc_cipher_job job{};
  job.struct_size = sizeof job;
  job.cipher = LC_AES_CTR;
  job.key_bytes = 16;
  job.memory = LC_MEMORY_DEVICE;
  job.device = LC_ANY_DEVICE;
  job.messages = &message;
  job.message_count = 1;
  job.message_size = sizeof message;
  EXPECT_EQ(LC_ERROR_DEVICE, lc_run(context(), &job, nullptr));
  EXPECT_NE("", std::string(lc_last_error()));
  EXPECT_EQ(0u, context_->counters(LC_CPU).bytes) << "no CPU can reach that memory";
  lc_free_device(context(), 0, memory);
}

// Text in the lost device's memory cannot be processed anywhere else, and no unverified text may
// stay in the output.
TEST_F(LostDevice, HalfWayToTheHostsMemory) {
  constexpr uint64_t kBytes = 9 * kMiB;
  Bytes key(32), iv(12), plain(kBytes), sealed(kBytes), tag(16), out(kBytes, 7);
  for (Bytes *some : {&key, &iv, &plain}) random_.fill(some->data(), some->size());
  reference_seal({LC_AES_GCM, 32, key.data(), iv, {}}, plain.data(), sealed.data(), kBytes,
                 tag.data());
  open("lost-download:2", LC_FALLBACK_CPU);
  void *memory = nullptr;
  LANECRYPT_ASSERT_OK(lc_alloc_device(context(), 0, kBytes, &memory));
  LANECRYPT_ASSERT_OK(lc_copy_to_device(context(), 0, memory, sealed.data(), kBytes));
  lc_message message = plain_message(key.data(), iv.data(), memory, out.data(), kBytes);
  message.tag = tag.data();
  lc_cipher_job job = {};
  job.struct_size = sizeof job;
  job.cipher = LC_AES_GCM;
  job.direction = LC_DECRYPT;
  job.key_bytes = 32;
  job.memory = LC_MEMORY_DEVICE_TO_HOST;
  job.device = LC_ANY_DEVICE;
  job.messages = &message;
  job.message_count = 1;
  job.message_size = sizeof message;
  lc_result result = {};
  result.struct_size = sizeof result;
  EXPECT_EQ(LC_ERROR_DEVICE, lc_run(context(), &job, &result));
  EXPECT_NE(nullptr, std::strstr(lc_last_error(), "lost")) << lc_last_error();
  EXPECT_EQ(0u, result.cpu_bytes);
  EXPECT_EQ(Bytes(kBytes), out);
  lc_free_device(context(), 0, memory);
}

TEST_F(LostDevice, WithManyJobsUnderWay) {
  for (lc_fallback fallback : {LC_FALLBACK_CPU, LC_FALLBACK_NONE}) {
    open("lost-after:9", fallback);
    std::vector<std::unique_ptr<Batch>> batches;
    std::vector<lc_ticket *> tickets;
    for (int n = 0; n < 60; n++) {
      BatchShape shape = random_shape(random_, 8, 200000);
      shape.data_memory = DataMemory::kHost;
      batches.push_back(std::make_unique<Batch>(context(), shape, random_));
    }
    for (const std::unique_ptr<Batch> &batch : batches) {
      lc_cipher_job job = batch->job();
      lc_ticket *ticket = nullptr;
      const lc_status status = lc_submit(context(), &job, nullptr, &ticket);
      // Without the CPU, later jobs may find no device.
      if (fallback == LC_FALLBACK_CPU) {
        LANECRYPT_ASSERT_OK(status);
      }
      tickets.push_back(status == LC_OK ? ticket : nullptr);
    }
    uint64_t failed = 0;
    for (size_t n = 0; n < tickets.size(); n++) {
      SCOPED_TRACE(batches[n]->shape().name());
      const lc_status status = tickets[n] ? lc_ticket_wait(tickets[n], nullptr) : LC_ERROR_DEVICE;
      failed += status != LC_OK;
      EXPECT_EQ("",
                status == LC_OK ? batches[n]->check() : batches[n]->check_pieces_or_untouched());
      lc_ticket_free(tickets[n]);
    }
    EXPECT_EQ(LC_DEVICE_LOST, context_->device(0).state);
    EXPECT_EQ(fallback == LC_FALLBACK_NONE, failed > 0) << failed << " jobs failed";
  }
}

TEST_F(LostDevice, WrongAnswersFailTheSelfTest) {
  open("wrong-byte:0", LC_FALLBACK_NONE);
  EXPECT_EQ(LC_ERROR_SELF_TEST, lc_device_test(context(), 0));
  const std::string why = lc_last_error();
  EXPECT_NE(std::string::npos, why.find("self-test")) << why;
  lc_device_info info = context_->device(0);
  EXPECT_EQ(LC_DEVICE_UNUSABLE, info.state);
  EXPECT_NE(std::string::npos, std::string(info.reason).find("self-test")) << info.reason;
  EXPECT_GE(context_->counters(0).failures, 1u);

  BatchShape shape;
  shape.messages = {{.length = 160}};
  Batch batch(context(), shape, random_);
  lc_cipher_job job = batch.job();
  EXPECT_NE(LC_OK, lc_run(context(), &job, nullptr));
  EXPECT_NE(std::string::npos, std::string(lc_last_error()).find("self-test")) << lc_last_error();
  EXPECT_NE("", batch.check());
  EXPECT_EQ("", batch.check_pieces_or_untouched());
}

// A wrong result of any known answer, the first or the last, is detected.
TEST_F(LostDevice, EachKnownAnswerCounts) {
  int refused = 0;
  const int step = is_scaled_down() ? 7 : 1;
  for (int good = 0; good < 200; good += step) {
    open(("wrong-byte:" + std::to_string(good)).c_str(), LC_FALLBACK_CPU);
    if (lc_device_test(context(), 0) == LC_OK) break;
    refused++;
    BatchShape shape;
    shape.cipher = LC_AES_CTR;
    shape.messages = {{.length = 333}};
    Batch batch(context(), shape, random_);
    lc_cipher_job job = batch.job();
    LANECRYPT_ASSERT_OK(lc_run(context(), &job, nullptr));
    EXPECT_EQ("", batch.check());
    EXPECT_EQ(0u, context_->counters(0).bytes) << "an untrusted device was used";
    EXPECT_EQ(333u, context_->counters(LC_CPU).bytes);
  }
  // The known answers cover ECB, CBC and CTR, three key sizes, and both directions of ECB and CBC.
  EXPECT_GE(refused, 15 / step);
  EXPECT_LT(refused, 200 / step);
}

TEST_F(LostDevice, AnotherDeviceTakesOver) {
  std::string other;
  for (const DeviceCase &device : devices_under_test())
    if (!device.absent && device.id.rfind("host", 0) != 0) other = device.id;
  if (other.empty()) GTEST_SKIP() << "needs a second device: there is only the host device";
  fault_ = std::make_unique<ScopedEnvironment>("LANECRYPT_HOST_FAULT", "lost-after:0");
  Context both(("host:0," + other).c_str(), LC_FALLBACK_NONE);
  BatchShape shape;
  shape.cipher = LC_AES_CBC;
  shape.direction = LC_DECRYPT;
  shape.messages = {{.length = 160000, .in_place = true}, {.length = 480}};
  Batch batch(both.get(), shape, random_);
  lc_cipher_job job = batch.job();
  LANECRYPT_ASSERT_OK(lc_run(both.get(), &job, nullptr));
  EXPECT_EQ("", batch.check());
  EXPECT_EQ(0u, both.counters(0).bytes);
  EXPECT_EQ(batch.bytes(), both.counters(1).bytes) << other;
  EXPECT_EQ(0u, both.counters(LC_CPU).bytes);
}

}  // namespace
}  // namespace lanecrypt::test
