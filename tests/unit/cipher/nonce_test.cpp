// A job that would encrypt two messages with one nonce under one key is refused, and no ciphertext
// is released.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

constexpr size_t kNonceText = 40;

// Messages with random nonces in no order.
class Nonces : public testing::TestWithParam<lc_cipher> {
 protected:
  void make(size_t count, size_t iv_bytes = 12) {
    iv_bytes_ = iv_bytes;
    nonces_.resize(count * iv_bytes);
    for (uint8_t &byte : nonces_) byte = static_cast<uint8_t>(random_());
    in_.assign(count * kNonceText, 1);
    out_.assign(count * kNonceText, 0xa5);
    tags_.assign(count * 16, 0xa5);
    keys_.assign(32 * count, 9);
    messages_.assign(count, {});
    for (size_t n = 0; n < count; ++n) {
      lc_message &message = messages_[n];
      message.key = keys_.data();
      message.iv = nonce(n);
      message.in = &in_[n * kNonceText];
      message.out = &out_[n * kNonceText];
      message.length = kNonceText;
      message.tag = &tags_[16 * n];
    }
    job_ = {};
    job_.struct_size = sizeof job_;
    job_.cipher = GetParam();
    job_.key_bytes = 32;
    job_.iv_bytes = static_cast<uint32_t>(iv_bytes);
    job_.messages = messages_.data();
    job_.message_count = count;
    job_.message_size = sizeof messages_[0];
  }
  uint8_t *nonce(size_t n) { return &nonces_[n * iv_bytes_]; }
  void clear() {
    std::fill(out_.begin(), out_.end(), 0xa5);
    std::fill(tags_.begin(), tags_.end(), 0xa5);
  }
  void repeat(size_t from, size_t to) { std::memcpy(nonce(to), nonce(from), iv_bytes_); }
  // Replaces the nonces by ascending ones.
  void ascend() {
    std::fill(nonces_.begin(), nonces_.end(), 0);
    for (size_t n = 0; n < messages_.size(); ++n) {
      nonce(n)[iv_bytes_ - 1] = static_cast<uint8_t>(n);
      nonce(n)[iv_bytes_ - 2] = static_cast<uint8_t>(n >> 8);
      nonce(n)[iv_bytes_ - 3] = static_cast<uint8_t>(n >> 16);
    }
  }

  // Whether the caller's memory contains no part of an output or a tag.
  bool shows_nothing() const {
    const auto is_none = [](uint8_t byte) { return byte == 0xa5 || byte == 0; };
    return std::all_of(out_.begin(), out_.end(), is_none) &&
           std::all_of(tags_.begin(), tags_.end(), is_none);
  }
  // Both lc_run() and lc_submit() must refuse the job. A submitted job may report this only when it
  // ends.
  void refused(const std::string &words) {
    EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context_.get(), &job_, nullptr));
    EXPECT_NE(nullptr, std::strstr(lc_last_error(), words.c_str())) << lc_last_error();
    EXPECT_TRUE(shows_nothing());
    lc_ticket *ticket = nullptr;
    lc_status status = lc_submit(context_.get(), &job_, nullptr, &ticket);
    if (status == LC_OK) status = lc_ticket_wait(ticket, nullptr);
    EXPECT_EQ(LC_ERROR_ARGUMENT, status);
    EXPECT_NE(nullptr, std::strstr(lc_last_error(), words.c_str())) << lc_last_error();
    lc_ticket_free(ticket);
    EXPECT_TRUE(shows_nothing());
  }
  void accepted() {
    const uint64_t before = context_.counters(0).bytes;
    EXPECT_EQ(LC_OK, lc_run(context_.get(), &job_, nullptr)) << lc_last_error();
    EXPECT_EQ(before + messages_.size() * kNonceText, context_.counters(0).bytes);
  }

  Context context_{"host:0", LC_FALLBACK_NONE};
  std::mt19937 random_{9};
  size_t iv_bytes_ = 12;
  std::vector<uint8_t> nonces_, in_, out_, tags_, keys_;
  std::vector<lc_message> messages_;
  lc_cipher_job job_ = {};
};

TEST_P(Nonces, TwoOfAFew) {
  make(10);
  accepted();
  clear();
  repeat(7, 2);
  refused("messages 2 and 7 have the same nonce");
  EXPECT_EQ(10 * kNonceText, context_.counters(0).bytes) << "few are compared before the job runs";
  job_.direction = LC_DECRYPT;
  EXPECT_EQ(LC_ERROR_TAG, lc_run(context_.get(), &job_, nullptr)) << "decryption may";
}

// The repetition is found while the device works.
TEST_P(Nonces, TwoOfVeryMany) {
  make(20000);
  accepted();
  clear();
  repeat(19999, 300);
  refused("messages 300 and 19999 have the same nonce");
}

TEST_P(Nonces, TwoOfManyThatAscend) {
  make(3000);
  ascend();
  accepted();
  clear();
  repeat(2000, 2001);
  refused("messages 2000 and 2001 have the same nonce");
}

// In-place encryption would destroy the text, so the nonces are compared before anything is done.
TEST_P(Nonces, InPlaceKeepTheText) {
  make(3000);
  for (lc_message &message : messages_) message.in = message.out;
  repeat(3, 2999);
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context_.get(), &job_, nullptr));
  EXPECT_TRUE(std::all_of(out_.begin(), out_.end(), [](uint8_t byte) { return byte == 0xa5; }));
  EXPECT_EQ(0u, context_.counters(0).bytes);
}

TEST_P(Nonces, OfOtherKeysMayBeTheSame) {
  make(1000);
  for (size_t n = 0; n < messages_.size(); ++n) {
    std::memcpy(&keys_[32 * n], &n, sizeof n);
    messages_[n].key = &keys_[32 * n];
    repeat(0, n);
  }
  accepted();
  // The same key at another address counts as the same key.
  clear();
  std::memcpy(&keys_[32 * 700], &keys_[32 * 5], 32);
  refused("messages 5 and 700 have the same nonce");
}

TEST_P(Nonces, OnTheDevice) {
  make(1000);
  void *memory = nullptr;
  LANECRYPT_ASSERT_OK(lc_alloc_device(context_.get(), 0, 3 * in_.size(), &memory));
  auto *const at = static_cast<uint8_t *>(memory);
  for (size_t n = 0; n < messages_.size(); ++n) {
    messages_[n].in = at + n * kNonceText;
    messages_[n].out = at + in_.size() + n * kNonceText;
  }
  job_.memory = LC_MEMORY_DEVICE;
  accepted();
  const uint64_t before = context_.counters(0).bytes;
  repeat(100, 50);
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context_.get(), &job_, nullptr));
  EXPECT_EQ(before, context_.counters(0).bytes) << "nothing is written that a stream could read";
  // With output to host memory.
  for (size_t n = 0; n < messages_.size(); ++n) messages_[n].out = &out_[n * kNonceText];
  std::fill(tags_.begin(), tags_.end(), 0xa5);
  if (GetParam() != LC_AES_CCM) {
    job_.memory = LC_MEMORY_DEVICE_TO_HOST;
    refused("messages 50 and 100 have the same nonce");
  }
  LANECRYPT_ASSERT_OK(lc_free_device(context_.get(), 0, memory));
}

// Segments with given nonces are checked. Numbered segments cannot repeat a nonce.
TEST_P(Nonces, OfSegments) {
  make(600);
  lc_segments segments = {};
  segments.struct_size = sizeof segments;
  segments.key = keys_.data();
  segments.in = in_.data();
  segments.out = out_.data();
  segments.text_bytes = in_.size();
  segments.segment_bytes = kNonceText;
  segments.tags = tags_.data();
  segments.nonce = nonces_.data();
  segments.nonce_stride = 12;
  job_.messages = nullptr;
  job_.message_count = 0;
  job_.segments = &segments;
  accepted();
  clear();
  repeat(1, 0);
  refused("messages 0 and 1 have the same nonce");
  segments.nonce_stride = 0;
  segments.number = {.at = 4, .bytes = 8, .little_endian = 1, .first = 0};
  accepted();
}

INSTANTIATE_TEST_SUITE_P(Ciphers, Nonces,
                         testing::Values(LC_AES_GCM, LC_AES_CCM, LC_CHACHA20_POLY1305),
                         [](const auto &one) {
                           return one.param == LC_AES_GCM   ? "Gcm"
                                  : one.param == LC_AES_CCM ? "Ccm"
                                                            : "ChaCha20Poly1305";
                         });

// The parts of one message share its nonce.
TEST(NoncesOfParts, AreThatOfTheirMessage) {
  const Context context("none", LC_FALLBACK_CPU);
  const uint8_t key[32] = {1}, nonce[12] = {2}, in[64] = {3};
  uint8_t out[64];
  lc_aead_part parts[2] = {};
  parts[1].text_before = 32;
  lc_message messages[2] = {};
  for (size_t n = 0; n < 2; ++n)
    messages[n] = {.key = key,
                   .iv = nonce,
                   .in = in + 32 * n,
                   .out = out + 32 * n,
                   .length = 32,
                   .aad = nullptr,
                   .aad_length = 0,
                   .tag = nullptr,
                   .part = &parts[n]};
  lc_cipher_job job = {};
  job.struct_size = sizeof job;
  job.cipher = LC_AES_GCM;
  job.key_bytes = 32;
  job.messages = messages;
  job.message_count = 2;
  job.message_size = sizeof messages[0];
  EXPECT_EQ(LC_OK, lc_run(context.get(), &job, nullptr)) << lc_last_error();
  messages[1].part = &parts[0];
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context.get(), &job, nullptr)) << "one place for two sums";
}

// In modes without tags the caller is responsible for the IVs.
TEST(NoncesOfOtherModes, AreTheCallersAffair) {
  const Context context("none", LC_FALLBACK_CPU);
  const uint8_t key[32] = {1, 2, 3}, iv[16] = {2}, in[64] = {3};
  uint8_t out[64];
  lc_message messages[2] = {};
  for (size_t n = 0; n < 2; ++n) messages[n] = plain_message(key, iv, in, out + 32 * n, 32);
  lc_cipher_job job = {};
  job.struct_size = sizeof job;
  job.key_bytes = 32;
  job.messages = messages;
  job.message_count = 2;
  job.message_size = sizeof messages[0];
  for (const lc_cipher cipher : {LC_AES_CBC, LC_AES_CTR, LC_AES_XTS, LC_CHACHA20}) {
    job.cipher = cipher;
    EXPECT_EQ(LC_OK, lc_run(context.get(), &job, nullptr)) << cipher << lc_last_error();
    EXPECT_EQ(0, std::memcmp(out, out + 32, 32));
  }
}

}  // namespace
}  // namespace lanecrypt::test
