// Work of several cores: the same bytes as OpenSSL in one call, and how many cores are used. No
// device is needed.
//
// SPDX-License-Identifier: Apache-2.0
#include "cipher/cpu_worker.h"

#include <gtest/gtest.h>
#include <limits.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>

#include "cpu/core_count.h"
#include "job/cipher/cipher_info.h"
#include "temporary_folder.h"
#include "test_scale.h"
#include "unit/support/devices.h"
#include "unit/support/rsa_test_key.h"

namespace lanecrypt::test {
namespace {

using runtime::CpuWorker;
using runtime::Request;
using runtime::Workers;

constexpr uint64_t kLeast = runtime::kLeastForCores;
// The number of bytes of a part.
constexpr uint64_t kPart = 512 << 10, kPartBlocks = kPart / kBlockBytes;

class SeveralCores : public testing::Test {
 protected:
  Status run(const lc_cipher_job &job) {
    Result<CipherJob> checked = make_cipher_job(&job);
    if (!checked.ok()) return checked.status();
    const auto request = std::make_shared<Request>(std::move(*checked), nullptr);
    worker_.submit(request);
    const Status status = request->wait();
    if (status.ok()) {
      EXPECT_EQ(request->result.cpu_bytes, request->job.bytes);
    }
    EXPECT_EQ(0u, request->result.device_bytes);
    return status;
  }
  void run_and_check(Batch &batch) {
    const Status status = run(batch.job());
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_EQ("", batch.check());
  }
  // Returns a batch of a few messages of any length, at any address, in place or not with equal
  // probability.
  static BatchShape shape_of(const CipherKind &kind, std::vector<MessageShape> messages) {
    BatchShape shape;
    shape.cipher = kind.cipher;
    shape.direction = kind.direction;
    shape.key_bytes = kind.key_bytes;
    shape.messages = std::move(messages);
    return shape;
  }

  std::atomic<int> started_ = 0;
  Workers workers_{3, [this] { ++started_; }};
  CpuWorker worker_{workers_, 4};
  Random random_{71};
};

// Lengths around the borders of the parts, in every mode and direction.
TEST_F(SeveralCores, MakeTheSameBytes) {
  Sample sample(3);
  for (const lc_cipher cipher : plain_modes())
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
      for (const bool in_place : {true, false}) {
        const CipherKind kind = {cipher, direction,
                                 key_sizes(cipher)[in_place ? 0 : 1 % key_sizes(cipher).size()]};
        // The tests below cover chains.
        if (kind.is_chain()) continue;
        for (const uint64_t length : {kLeast, kLeast + kPart - 1, kLeast + 1,
                                      kLeast + 2 * kPart + 17, kLeast + kPart + 33}) {
          if (!sample.takes_next()) continue;
          SCOPED_TRACE(cipher_name(cipher, kind.key_bytes) + ", " + std::to_string(length));
          BatchShape shape =
              shape_of(kind, {{.length = allowed_length(cipher, 0, length),
                               .in_alignment = static_cast<uint32_t>(random_.below(16)),
                               .out_alignment = static_cast<uint32_t>(random_.below(16)),
                               .in_place = in_place}});
          if (cipher_info(cipher).has_data_units()) {
            shape.data_unit_bytes = 512 + random_.below(5000);
            shape.messages[0].length = allowed_length(cipher, shape.data_unit_bytes, length);
          }
          Batch batch(nullptr, shape, random_);
          run_and_check(batch);
        }
      }
}

// Each part of CFB8 and CFB1 begins with a register that holds the ciphertext before it.
TEST_F(SeveralCores, DecryptSegmentsOfBytesAndBits) {
  for (const lc_cipher cipher : cpu_only_modes()) {
    Batch batch(nullptr,
                shape_of({cipher, LC_DECRYPT, 16},
                         {{.length = kLeast + kPart + 33, .in_place = cipher == LC_AES_CFB8}}),
                random_);
    run_and_check(batch);
  }
}

// A carry out of 32, 64 or all 128 bits: within a part, where a part begins, and next to that.
TEST_F(SeveralCores, CountOverTheWholeBlock) {
  for (const size_t ones : {size_t{4}, size_t{8}, size_t{16}})
    for (const uint64_t blocks : {kPartBlocks - 1, kPartBlocks, kPartBlocks + 1, 3 * kPartBlocks}) {
      Batch batch(
          nullptr,
          shape_of({LC_AES_CTR, LC_ENCRYPT, 16}, {{.length = kLeast + 5, .in_place = true}}),
          random_);
      uint8_t *const iv = batch.iv(0);
      std::fill(iv + 16 - ones, iv + 16, uint8_t{0xFF});
      // So many blocks until all bits are ones; the next block wraps.
      for (int n = 0; n < 4; ++n) iv[15 - n] = static_cast<uint8_t>(~((blocks - 1) >> (8 * n)));
      batch.finish();
      run_and_check(batch);
    }
  // XTS counts data units in the other byte order.
  for (const uint64_t units : {uint64_t{1}, uint64_t{255}, uint64_t{256}}) {
    BatchShape shape =
        shape_of({LC_AES_XTS, LC_DECRYPT, 32}, {{.length = kLeast, .in_place = true}});
    shape.data_unit_bytes = 2048;
    Batch batch(nullptr, shape, random_);
    std::fill_n(batch.iv(0), 16, uint8_t{0xFF});
    batch.iv(0)[0] = static_cast<uint8_t>(0xFF - (units - 1));
    batch.finish();
    run_and_check(batch);
  }
}

// One thread does each chain, and each data unit that is longer than a part.
TEST_F(SeveralCores, TakeWholeWhatCannotBeCut) {
  for (const CipherKind kind :
       {CipherKind{LC_AES_CBC, LC_ENCRYPT, 16}, CipherKind{LC_AES_OFB, LC_ENCRYPT, 32},
        CipherKind{LC_AES_CBC_CS3, LC_ENCRYPT, 16}, CipherKind{LC_AES_XTS, LC_ENCRYPT, 64}}) {
    std::vector<MessageShape> messages;
    for (uint32_t n = 0; n < 5; ++n)
      messages.push_back({.length = kPart + 64 * n, .in_place = n % 2 == 0, .key = n % 2});
    Batch batch(nullptr, shape_of(kind, messages), random_);
    run_and_check(batch);
  }
}

TEST_F(SeveralCores, TakeManyShortMessages) {
  for (const CipherKind kind :
       {CipherKind{LC_AES_CBC, LC_ENCRYPT, 16}, CipherKind{LC_AES_CTR, LC_ENCRYPT, 32}}) {
    std::vector<MessageShape> messages;
    for (uint32_t n = 0; n < 9000; ++n)
      messages.push_back(
          {.length = 16 * random_.below(40), .in_place = n % 2 == 0, .key = n % 100});
    Batch batch(nullptr, shape_of(kind, messages), random_);
    ASSERT_GT(batch.bytes(), kLeast);
    run_and_check(batch);
  }
}

TEST_F(SeveralCores, AreAtALongJobAndNotAtAShortOne) {
  Batch little(nullptr, shape_of({LC_AES_CTR, LC_ENCRYPT, 16}, {{.length = kLeast - 1}}), random_);
  run_and_check(little);
  EXPECT_EQ(0, started_);
  Batch much(nullptr, shape_of({LC_AES_CTR, LC_ENCRYPT, 16}, {{.length = kLeast}}), random_);
  const lc_cipher_job job = much.job();
  // The other threads may come when all is done already.
  int jobs = 0;
  for (; worker_.bytes_of_others() == 0 && jobs < 5000; ++jobs) ASSERT_TRUE(run(job).ok());
  EXPECT_LT(jobs, 5000);
  EXPECT_GE(started_, 1);
  EXPECT_LE(worker_.bytes_of_others(), jobs * kLeast);
  EXPECT_TRUE(worker_.is_idle());
}

TEST_F(SeveralCores, LeaveAllToOneWhileTheyAreBusy) {
  std::promise<void> free;
  const std::shared_future<void> is_free = free.get_future().share();
  workers_.give(
      3, [is_free](size_t) { is_free.wait(); }, nullptr);
  Batch batch(nullptr,
              shape_of({LC_AES_CBC, LC_DECRYPT, 16}, {{.length = 2 * kLeast, .in_place = true}}),
              random_);
  run_and_check(batch);
  EXPECT_EQ(0u, worker_.bytes_of_others());
  free.set_value();
}

TEST_F(SeveralCores, OfOneAreNone) {
  CpuWorker alone(workers_, 1);
  Batch batch(nullptr, shape_of({LC_AES_CTR, LC_ENCRYPT, 16}, {{.length = 2 * kLeast}}), random_);
  const lc_cipher_job job = batch.job();
  Result<CipherJob> checked = make_cipher_job(&job);
  ASSERT_TRUE(checked.ok());
  const auto request = std::make_shared<Request>(std::move(*checked), nullptr);
  alone.submit(request);
  EXPECT_TRUE(request->wait().ok());
  EXPECT_EQ("", batch.check());
  EXPECT_EQ(0, started_);
}

// A job can name the CPU, whatever the options say about fallback.
TEST(TheCpu, IsTakenByItsName) {
  const Context context("host", LC_FALLBACK_NONE);
  Random random(72);
  BatchShape shape;
  shape.cipher = LC_AES_CTR;
  shape.messages = {{.length = 3 * kLeast + 7, .in_place = true}, {.length = 100}};
  Batch batch(nullptr, shape, random);
  lc_cipher_job job = batch.job();
  job.device = LC_CPU;
  lc_result result = {};
  result.struct_size = sizeof result;
  LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, &result));
  EXPECT_EQ("", batch.check());
  EXPECT_EQ(batch.bytes(), result.cpu_bytes);
  EXPECT_EQ(batch.bytes(), context.counters(LC_CPU).bytes);
  EXPECT_EQ(1u, context.counters(LC_CPU).jobs);
  EXPECT_EQ(0u, context.counters(0).jobs);
  job.memory = LC_MEMORY_DEVICE;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context.get(), &job, nullptr));
}

class CoreCount : public testing::Test {
 protected:
  void write(const std::string &name, const std::string &text) const {
    const std::filesystem::path path = folder_.path() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  unsigned cores_of(const std::string &list) const {
    write("list", list);
    return cpu::group_cores(folder_.path() + "/list", folder_.path());
  }

  const TemporaryFolder folder_;
};

TEST_F(CoreCount, GoesByTheLeastOfTheGroups) {
  write("a/b/cpu.max", "max 100000");
  EXPECT_EQ(UINT_MAX, cores_of("0::/a/b"));
  EXPECT_EQ(UINT_MAX, cores_of(""));
  EXPECT_EQ(UINT_MAX, cores_of("no group"));
  write("a/cpu.max", "350000 100000");
  EXPECT_EQ(3u, cores_of("0::/a/b"));
  write("a/b/cpu.max", "50000 100000");
  EXPECT_EQ(1u, cores_of("0::/a/b"));
  EXPECT_EQ(3u, cores_of("0::/a"));
  EXPECT_EQ(UINT_MAX, cores_of("0::/"));
  // In a container the cgroup has the name that it has outside.
  write("cpu.max", "200000 100000");
  EXPECT_EQ(2u, cores_of("0::/outside/of/it"));
}

TEST_F(CoreCount, KnowsTheFirstVersion) {
  write("cpu/a/cpu.cfs_quota_us", "-1");
  write("cpu/a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(UINT_MAX, cores_of("4:cpu,cpuacct:/a\n0::/"));
  write("cpu/a/cpu.cfs_quota_us", "400000");
  EXPECT_EQ(4u, cores_of("4:cpu,cpuacct:/a\n0::/"));
  EXPECT_EQ(4u, cores_of("1:cpu:/a"));
  EXPECT_EQ(UINT_MAX, cores_of("4:cpuset:/a"));
}

// Restricts this thread, and all threads that it starts, to one core.
class OneCore : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(0, sched_getaffinity(0, sizeof before_, &before_));
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int n = 0; n < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++n)
      if (CPU_ISSET(n, &before_)) CPU_SET(n, &one);
    ASSERT_EQ(0, sched_setaffinity(0, sizeof one, &one));
  }
  void TearDown() override { ASSERT_EQ(0, sched_setaffinity(0, sizeof before_, &before_)); }

  cpu_set_t before_;
};

TEST_F(OneCore, IsAllThatMayBeUsed) {
  EXPECT_EQ(1u, cpu::usable_cores());
  EXPECT_EQ(1u, cpu::bulk_cores());
}

TEST(Cores, AreEightAtMostForOneRequest) {
  EXPECT_EQ(std::min(cpu::usable_cores(), 8u), cpu::bulk_cores());
}

// However many cores the machine has.
TEST_F(OneCore, HasOneThreadOfRsa) {
  const lc_rsa_parts parts = key_of_bits(1024).parts();
  lc_rsa_key *key = nullptr;
  ASSERT_EQ(LC_OK, lc_rsa_key_new(&parts, &key)) << lc_last_error();
  {
    const Context context("none", LC_FALLBACK_CPU);
    const auto threads_after = [&](size_t operations) {
      const Bytes in(128, 1);
      std::vector<Bytes> out(operations, Bytes(128));
      std::vector<lc_rsa_message> messages(operations);
      for (size_t n = 0; n < operations; ++n) {
        messages[n].key = key;
        messages[n].in = in.data();
        messages[n].out = out[n].data();
      }
      lc_rsa_job job{};
      job.struct_size = sizeof job;
      job.operation = LC_RSA_PRIVATE;
      job.messages = messages.data();
      job.message_count = operations;
      job.message_size = sizeof messages[0];
      job.device = LC_ANY_DEVICE;
      EXPECT_EQ(LC_OK, lc_rsa_run(context.get(), &job, nullptr)) << lc_last_error();
      const std::filesystem::directory_iterator all("/proc/self/task");
      return std::distance(begin(all), end(all));
    };
    const auto of_one = threads_after(1);
    EXPECT_EQ(of_one, threads_after(64));
  }
  lc_rsa_key_free(key);
}

}  // namespace
}  // namespace lanecrypt::test
