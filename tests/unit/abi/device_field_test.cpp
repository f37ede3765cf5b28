// Which device the field `device` of a job selects: in a zero-initialised struct, in one whose
// caller has set it, and in one of a program that was built against the header of version 0.1.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "unit/abi/version_01.h"
#include "unit/support/devices.h"
#include "unit/support/rsa_test_key.h"

namespace lanecrypt::test {
namespace {

// The outcome of a job: its status, and where its bytes or operations ran.
struct Ran {
  lc_status status;
  bool on_device, on_cpu;
};

template <typename Run, typename Job>
Ran run(Run function, lc_context *context, const Job &job) {
  lc_result result = {};
  result.struct_size = sizeof result;
  const lc_status status = function(context, &job, &result);
  return {status, result.device_bytes + result.device_operations > 0,
          result.cpu_bytes + result.cpu_operations > 0};
}

// A job of a program that was built against version 0.1: the first bytes of the struct, followed by
// bytes that must not be read.
template <typename Old, typename New>
struct OldJob {
  explicit OldJob(const New &job) {
    static_assert(sizeof(Old) < sizeof(New));
    std::memset(&space, 0xff, sizeof space);
    std::memcpy(&space, &job, sizeof(Old));
    space.struct_size = sizeof(Old);
  }
  New space;
};

int keep_key(void *, uint64_t, const lc_rsa_parts *) { return 1; }

// A job of each family, zero-initialised except for the required fields.
class Family {
 public:
  virtual ~Family() = default;
  virtual const char *name() const = 0;
  virtual Ran zeroed(lc_context *context) = 0;
  virtual Ran naming(lc_context *context, uint32_t device) = 0;
  // Names a device as a program of version 0.1 does.
  virtual Ran old(lc_context *context, uint32_t device) = 0;
};

template <typename Old, typename New, lc_status (*kRun)(lc_context *, const New *, lc_result *)>
class FamilyOf : public Family {
 public:
  FamilyOf(const char *name, const std::function<void(New &)> &fill) : name_(name) {
    job_.struct_size = sizeof job_;
    fill(job_);
  }
  const char *name() const override { return name_; }
  Ran zeroed(lc_context *context) override { return run(kRun, context, job_); }
  Ran naming(lc_context *context, uint32_t device) override {
    New job = job_;
    job.device = device;
    job.has_device = 1;
    return run(kRun, context, job);
  }
  Ran old(lc_context *context, uint32_t device) override {
    New job = job_;
    job.device = device;
    const OldJob<Old, New> old(job);
    return run(kRun, context, old.space);
  }

 private:
  const char *name_;
  New job_ = {};
};

// The buffers that the jobs read and write.
class DeviceField : public testing::Test {
 protected:
  void SetUp() override {
    std::iota(text_.begin(), text_.end(), uint8_t{1});
    message_.key = message_.iv = key_;
    message_.in = text_.data();
    message_.out = out_.data();
    message_.length = text_.size();
    add<version_01::lc_cipher_job, lc_cipher_job, lc_run>("cipher", [&](lc_cipher_job &job) {
      job.cipher = LC_AES_CTR;
      job.key_bytes = 16;
      job.messages = &message_;
      job.message_count = 1;
      job.message_size = sizeof message_;
    });
    hashed_ = {text_.data(), text_.size(), out_.data()};
    add<version_01::lc_hash_job, lc_hash_job, lc_hash_run>("hash", [&](lc_hash_job &job) {
      job.hash = LC_SHA_256;
      job.messages = &hashed_;
      job.message_count = 1;
      job.message_size = sizeof hashed_;
    });
    const lc_rsa_parts rsa_parts = key_of_bits(1024).parts();
    LANECRYPT_ASSERT_OK(lc_rsa_key_new(&rsa_parts, &rsa_key_));
    rsa_ = {rsa_key_, number_, out_.data()};
    add<version_01::lc_rsa_job, lc_rsa_job, lc_rsa_run>("RSA", [&](lc_rsa_job &job) {
      job.operation = LC_RSA_PRIVATE;
      job.messages = &rsa_;
      job.message_count = 1;
      job.message_size = sizeof rsa_;
    });
    add<version_01::lc_rsa_generation, lc_rsa_generation, lc_rsa_generate>(
        "RSA keys", [&](lc_rsa_generation &generation) {
          generation.bits = 1024;
          generation.count = 1;
          generation.on_key = keep_key;
        });
    lc_slh_dsa_parts slh_parts = {};
    slh_parts.struct_size = sizeof slh_parts;
    slh_parts.set = LC_SLH_DSA_SHA2_128F;
    std::vector<uint8_t> slh_bytes(64);
    lc_slh_dsa_generation first = {};
    first.struct_size = sizeof first;
    first.set = slh_parts.set;
    first.device = LC_CPU;
    first.count = 1;
    first.keys = slh_bytes.data();
    const Context cpu("none", LC_FALLBACK_CPU);
    LANECRYPT_ASSERT_OK(lc_slh_dsa_generate(cpu.get(), &first, nullptr));
    slh_parts.private_key = slh_bytes.data();
    slh_parts.private_key_bytes = slh_bytes.size();
    LANECRYPT_ASSERT_OK(lc_slh_dsa_key_new(&slh_parts, &slh_key_));
    slh_.key = slh_key_;
    slh_.signature = out_.data();
    slh_.signature_bytes = out_.size();
    add<version_01::lc_slh_dsa_job, lc_slh_dsa_job, lc_slh_dsa_run>(
        "SLH-DSA", [&](lc_slh_dsa_job &job) {
          job.messages = &slh_;
          job.message_count = 1;
          job.message_size = sizeof slh_;
        });
    add<version_01::lc_slh_dsa_generation, lc_slh_dsa_generation, lc_slh_dsa_generate>(
        "SLH-DSA keys", [&](lc_slh_dsa_generation &generation) {
          generation.set = LC_SLH_DSA_SHA2_128F;
          generation.count = 1;
          generation.keys = out_.data();
        });
    lc_ml_dsa_parts ml_parts = {};
    ml_parts.struct_size = sizeof ml_parts;
    ml_parts.set = LC_ML_DSA_44;
    ml_parts.seed = text_.data();
    LANECRYPT_ASSERT_OK(lc_ml_dsa_key_new(&ml_parts, &ml_key_));
    ml_.key = ml_key_;
    ml_.signature = out_.data();
    ml_.signature_bytes = out_.size();
    add<version_01::lc_ml_dsa_job, lc_ml_dsa_job, lc_ml_dsa_run>("ML-DSA", [&](lc_ml_dsa_job &job) {
      job.messages = &ml_;
      job.message_count = 1;
      job.message_size = sizeof ml_;
    });
  }
  void TearDown() override {
    lc_rsa_key_free(rsa_key_);
    lc_slh_dsa_key_free(slh_key_);
    lc_ml_dsa_key_free(ml_key_);
  }

  template <typename Old, typename New, lc_status (*kRun)(lc_context *, const New *, lc_result *)>
  void add(const char *name, const std::function<void(New &)> &fill) {
    families_.push_back(std::make_unique<FamilyOf<Old, New, kRun>>(name, fill));
  }

  std::vector<std::unique_ptr<Family>> families_;
  uint8_t key_[16] = {1}, number_[128] = {};
  std::vector<uint8_t> text_ = std::vector<uint8_t>(4096), out_ = std::vector<uint8_t>(20000);
  lc_message message_ = {};
  lc_hash_message hashed_ = {};
  lc_rsa_message rsa_ = {};
  lc_slh_dsa_message slh_ = {};
  lc_ml_dsa_message ml_ = {};
  lc_rsa_key *rsa_key_ = nullptr;
  lc_slh_dsa_key *slh_key_ = nullptr;
  lc_ml_dsa_key *ml_key_ = nullptr;
};

// There is no device, and the CPU may do all jobs: only a job that names device 0 fails.
TEST_F(DeviceField, LeftZeroLetsLanecryptChoose) {
  const Context context("none", LC_FALLBACK_CPU);
  for (const auto &family : families_) {
    SCOPED_TRACE(family->name());
    const Ran ran = family->zeroed(context.get());
    EXPECT_EQ(LC_OK, ran.status) << lc_last_error();
    EXPECT_TRUE(ran.on_cpu);
  }
}

TEST_F(DeviceField, ThatWasSetNamesDeviceZero) {
  const Context none("none", LC_FALLBACK_CPU), emulator("host:0", LC_FALLBACK_NONE);
  for (const auto &family : families_) {
    SCOPED_TRACE(family->name());
    EXPECT_EQ(LC_ERROR_ARGUMENT, family->naming(none.get(), 0).status);
    const Ran ran = family->naming(emulator.get(), 0);
    EXPECT_EQ(LC_OK, ran.status) << lc_last_error();
    EXPECT_TRUE(ran.on_device);
    EXPECT_EQ(LC_OK, family->naming(none.get(), LC_CPU).status) << lc_last_error();
    EXPECT_EQ(LC_OK, family->naming(none.get(), LC_ANY_DEVICE).status) << lc_last_error();
  }
}

// The program's struct ends before `has_device`, so zero names device 0 as it did then.
TEST_F(DeviceField, OfVersion01NamesDeviceZero) {
  const Context none("none", LC_FALLBACK_CPU), emulator("host:0", LC_FALLBACK_NONE);
  for (const auto &family : families_) {
    SCOPED_TRACE(family->name());
    EXPECT_EQ(LC_ERROR_ARGUMENT, family->old(none.get(), 0).status);
    const Ran ran = family->old(emulator.get(), 0);
    EXPECT_EQ(LC_OK, ran.status) << lc_last_error();
    EXPECT_TRUE(ran.on_device);
    EXPECT_EQ(LC_OK, family->old(none.get(), LC_ANY_DEVICE).status) << lc_last_error();
    EXPECT_EQ(LC_OK, family->old(none.get(), LC_CPU).status) << lc_last_error();
  }
}

// A zero-initialised job in device memory that lc_alloc_device() did not allocate must not go to a
// device that no one has selected.
TEST_F(DeviceField, LeftZeroTakesNoMemoryOfUnknownDevices) {
  const Context context("none", LC_FALLBACK_CPU);
  lc_cipher_job job = {};
  job.struct_size = sizeof job;
  job.cipher = LC_AES_CTR;
  job.key_bytes = 16;
  job.memory = LC_MEMORY_DEVICE;
  job.messages = &message_;
  job.message_count = 1;
  job.message_size = sizeof message_;
  EXPECT_EQ(LC_ERROR_NO_DEVICE, lc_run(context.get(), &job, nullptr));
  lc_hash_job hash = {};
  hash.struct_size = sizeof hash;
  hash.hash = LC_SHA_256;
  hash.memory = LC_MEMORY_DEVICE;
  hash.messages = &hashed_;
  hash.message_count = 1;
  hash.message_size = sizeof hashed_;
  EXPECT_EQ(LC_ERROR_NO_DEVICE, lc_hash_run(context.get(), &hash, nullptr));
}

// A job without a cipher has the number of AES-ECB, which would silently omit the requested tag.
TEST_F(DeviceField, NoCipherIsNoCipherWithTags) {
  const Context context("none", LC_FALLBACK_CPU);
  uint8_t tag[16] = {};
  message_.tag = tag;
  lc_cipher_job job = {};
  job.struct_size = sizeof job;
  job.key_bytes = 16;
  job.messages = &message_;
  job.message_count = 1;
  job.message_size = sizeof message_;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context.get(), &job, nullptr));
  EXPECT_EQ(0, out_[0]);
  message_.tag = nullptr;
  message_.aad = text_.data();
  message_.aad_length = 5;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context.get(), &job, nullptr));
  OldJob<version_01::lc_cipher_job, lc_cipher_job> old(job);
  old.space.device = LC_ANY_DEVICE;
  EXPECT_EQ(LC_OK, lc_run(context.get(), &old.space, nullptr)) << lc_last_error();
  message_.aad = nullptr;
  message_.aad_length = 0;
  EXPECT_EQ(LC_OK, lc_run(context.get(), &job, nullptr)) << lc_last_error();
}

}  // namespace
}  // namespace lanecrypt::test
