// Hash and signature jobs whose outputs overlap their inputs or each other are refused. For cipher
// jobs see cipher/overlap_test.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <numeric>

#include "unit/support/devices.h"
#include "unit/support/rsa_test_key.h"

namespace lanecrypt::test {
namespace {

class OutputOverlap : public testing::Test {
 protected:
  OutputOverlap() { std::iota(space_.begin(), space_.end(), uint8_t{3}); }
  uint8_t *at(size_t offset) { return space_.data() + offset; }

  template <typename Run, typename Job>
  void is(lc_status expected, Run run, const Job &job, const char *words = "overlaps") {
    EXPECT_EQ(expected, run(context_.get(), &job, nullptr)) << lc_last_error();
    if (expected == LC_OK) return;
    EXPECT_NE(nullptr, std::strstr(lc_last_error(), words)) << lc_last_error();
  }
  template <typename Job, typename Message>
  static Job job_of(std::vector<Message> &messages) {
    Job job = {};
    job.struct_size = sizeof job;
    job.messages = messages.data();
    job.message_count = messages.size();
    job.message_size = sizeof(Message);
    return job;
  }

  const Context context_{"none", LC_FALLBACK_CPU};
  std::vector<uint8_t> space_ = std::vector<uint8_t>(1 << 16);
};

TEST_F(OutputOverlap, Digests) {
  std::vector<lc_hash_message> messages;
  for (size_t n = 0; n < 6; ++n) messages.push_back({at(100 * n), 100, at(2000 + 32 * n)});
  auto job = job_of<lc_hash_job>(messages);
  job.hash = LC_SHA_256;
  is(LC_OK, lc_hash_run, job);
  messages[4].digest = at(2000 + 31);
  is(LC_ERROR_ARGUMENT, lc_hash_run, job, "the digest of message");
  messages[4].digest = at(599);
  is(LC_ERROR_ARGUMENT, lc_hash_run, job,
     "the digest of message 4 overlaps the input of message 5");
  messages[4].digest = at(400);
  is(LC_ERROR_ARGUMENT, lc_hash_run, job,
     "the digest of message 4 overlaps the input of message 4");
  messages[4].digest = at(600);
  is(LC_OK, lc_hash_run, job);
  job.memory = job.digest_memory = LC_MEMORY_DEVICE;
  messages[4].digest = at(599);
  is(LC_ERROR_ARGUMENT, lc_hash_run, job);
  lc_ticket *ticket = nullptr;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_hash_submit(context_.get(), &job, nullptr, &ticket));
}

TEST_F(OutputOverlap, ResultsOfRsa) {
  const lc_rsa_parts parts = key_of_bits(1024).parts();
  lc_rsa_key *key = nullptr;
  LANECRYPT_ASSERT_OK(lc_rsa_key_new(&parts, &key));
  std::vector<lc_rsa_message> messages;
  for (size_t n = 0; n < 4; ++n) {
    *at(128 * n) = 0;
    messages.push_back({key, at(128 * n), at(4096 + 128 * n)});
  }
  auto job = job_of<lc_rsa_job>(messages);
  for (const lc_rsa_operation operation : {LC_RSA_PUBLIC, LC_RSA_PRIVATE}) {
    job.operation = operation;
    is(LC_OK, lc_rsa_run, job);
    messages[1].out = at(4096 + 128 * 2 + 127);
    is(LC_ERROR_ARGUMENT, lc_rsa_run, job, "the output of message");
    messages[1].out = at(128 * 3 + 127);
    is(LC_ERROR_ARGUMENT, lc_rsa_run, job,
       "the output of message 1 overlaps the input of message 3");
    messages[1].out = at(128 * 1 + 5);
    is(LC_ERROR_ARGUMENT, lc_rsa_run, job, "overlap");
    messages[1].out = at(4096 + 128);
  }
  for (lc_rsa_message &message : messages) message.out = const_cast<void *>(message.in);
  is(LC_OK, lc_rsa_run, job);
  lc_rsa_key_free(key);
}

TEST_F(OutputOverlap, SignaturesOfMlDsa) {
  lc_ml_dsa_parts parts = {};
  parts.struct_size = sizeof parts;
  parts.set = LC_ML_DSA_44;
  parts.seed = at(0);
  lc_ml_dsa_key *key = nullptr;
  LANECRYPT_ASSERT_OK(lc_ml_dsa_key_new(&parts, &key));
  std::vector<lc_ml_dsa_message> messages(3);
  for (size_t n = 0; n < messages.size(); ++n) {
    messages[n].key = key;
    messages[n].message = at(100 * n);
    messages[n].message_bytes = 100;
    messages[n].context = at(1000);
    messages[n].context_bytes = 10;
    messages[n].signature = at(4096 + 3000 * n);
    messages[n].signature_bytes = 2420;
  }
  auto job = job_of<lc_ml_dsa_job>(messages);
  is(LC_OK, lc_ml_dsa_run, job);
  messages[2].signature = at(4096 + 2419);
  is(LC_ERROR_ARGUMENT, lc_ml_dsa_run, job, "the signature of message");
  messages[2].signature = at(4096 + 6000);
  job.operation = LC_ML_DSA_VERIFY;
  job.verdicts = at(2000);
  is(LC_OK, lc_ml_dsa_run, job);
  EXPECT_EQ(1, *at(2000) & *at(2001) & *at(2002));
  for (const size_t place : {4096 + 10, 299, 1008}) {
    job.verdicts = at(place);
    is(LC_ERROR_ARGUMENT, lc_ml_dsa_run, job, "the array of verdicts");
  }
  lc_ml_dsa_key_free(key);

  std::vector<lc_ml_dsa_message> keys(2);
  for (size_t n = 0; n < keys.size(); ++n) {
    keys[n].public_key = at(1312 * n);
    keys[n].private_key = at(8192 + 2560 * n);
  }
  auto generation = job_of<lc_ml_dsa_job>(keys);
  generation.operation = LC_ML_DSA_GENERATE;
  generation.set = LC_ML_DSA_44;
  is(LC_OK, lc_ml_dsa_run, generation);
  keys[0].private_key = at(1312 * 2 - 1);
  is(LC_ERROR_ARGUMENT, lc_ml_dsa_run, generation, "key of message");
  keys[0].private_key = at(8192 + 1);
  is(LC_ERROR_ARGUMENT, lc_ml_dsa_run, generation, "private key of message");
}

TEST_F(OutputOverlap, SignaturesOfSlhDsa) {
  lc_slh_dsa_generation generation = {};
  generation.struct_size = sizeof generation;
  generation.set = LC_SLH_DSA_SHA2_128F;
  generation.count = 1;
  generation.keys = at(0);
  is(LC_OK, lc_slh_dsa_generate, generation);
  lc_slh_dsa_parts parts = {};
  parts.struct_size = sizeof parts;
  parts.set = LC_SLH_DSA_SHA2_128F;
  parts.private_key = at(0);
  parts.private_key_bytes = 64;
  lc_slh_dsa_key *key = nullptr;
  LANECRYPT_ASSERT_OK(lc_slh_dsa_key_new(&parts, &key));
  const size_t bytes = lc_slh_dsa_signature_bytes(LC_SLH_DSA_SHA2_128F);
  std::vector<lc_slh_dsa_message> messages(2);
  for (size_t n = 0; n < messages.size(); ++n) {
    messages[n].key = key;
    messages[n].message = at(100 + 100 * n);
    messages[n].message_bytes = 100;
    messages[n].context = at(300);
    messages[n].context_bytes = 10;
    messages[n].additional_random = at(320);
    messages[n].signature = at(1024 + bytes * n);
    messages[n].signature_bytes = bytes;
  }
  auto job = job_of<lc_slh_dsa_job>(messages);
  is(LC_OK, lc_slh_dsa_run, job);
  for (const size_t place : {1024 + bytes - 1, size_t{299}, size_t{309}, size_t{335}}) {
    messages[1].signature = at(place);
    is(LC_ERROR_ARGUMENT, lc_slh_dsa_run, job, "the signature of message");
  }
  messages[1].signature = at(1024 + bytes);
  for (lc_slh_dsa_message &message : messages) message.additional_random = nullptr;
  job.operation = LC_SLH_DSA_VERIFY;
  job.verdicts = at(500);
  is(LC_OK, lc_slh_dsa_run, job);
  EXPECT_EQ(1, *at(500) & *at(501));
  for (const size_t place : {size_t{1023}, size_t{299}, size_t{308}}) {
    job.verdicts = at(place);
    is(LC_ERROR_ARGUMENT, lc_slh_dsa_run, job, "the array of verdicts");
  }
  lc_slh_dsa_key_free(key);
}

}  // namespace
}  // namespace lanecrypt::test
