// Messages of GCM and ChaCha20-Poly1305 in parts, on every device and on the CPU. Each part is a
// job, and the parts' sums make the tag.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "kernels/aead/gf128.h"
#include "kernels/aead/poly1305_field.h"
#include "unit/support/devices.h"
#include "unit/support/one_message.h"
#include "unit/support/random_bytes.h"

namespace lanecrypt::test {
namespace {

Block load(const uint8_t *bytes) {
  Block block;
  std::memcpy(&block, bytes, sizeof block);
  return block;
}

class AeadPart : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!offers(LC_AES_GCM)) GTEST_SKIP() << GetParam().id << " seals nothing";
    random_.fill(key_, sizeof key_);
    random_.fill(iv_, sizeof iv_);
  }

  // Returns the tag of a message without additional data.
  Bytes tag_of(lc_cipher cipher, const uint32_t *sum, uint64_t bytes) {
    uint8_t blocks[32] = {};
    Block tag = {};
    if (cipher == LC_AES_GCM) {
      std::memcpy(blocks + 16, iv_, 12);
      blocks[31] = 1;
      reference_crypt({LC_AES_ECB, LC_ENCRYPT, 32}, key_, nullptr, blocks, blocks, 32);
      uint8_t lengths[16] = {};
      for (int n = 0; n < 8; ++n) lengths[15 - n] = static_cast<uint8_t>(8 * bytes >> (8 * n));
      tag = gf128_to_block(
          gf128_multiply(gf128_of_block(load(lengths)), gf128_of_block(load(blocks))));
      for (int n = 0; n < 4; ++n) tag.w[n] ^= sum[n] ^ load(blocks + 16).w[n];
    } else {
      uint8_t start[16] = {};
      std::memcpy(start + 4, iv_, 12);
      reference_crypt({LC_CHACHA20, LC_ENCRYPT, 32}, key_, start, blocks, blocks, 32);
      Block r = load(blocks);
      r.w[0] &= 0x0fffffffu;
      for (int n = 1; n < 4; ++n) r.w[n] &= 0x0ffffffcu;
      Poly factor = poly_of_block(r);
      factor.w[4] &= 0xffffffu;
      const Block lengths = {{0, 0, static_cast<u32>(bytes), static_cast<u32>(bytes >> 32)}};
      const Poly closing = poly_multiply(poly_of_block(lengths), factor);
      Poly all;
      for (int n = 0; n < 5; ++n) all.w[n] = sum[n] + closing.w[n];
      tag = poly_finish(all, load(blocks + 16));
    }
    Bytes made(16);
    std::memcpy(made.data(), &tag, 16);
    return made;
  }

  // Checks both directions of a message that is cut at `cuts`.
  void check(lc_cipher cipher, uint64_t bytes, const std::vector<uint64_t> &cuts) {
    Bytes plain(bytes), encrypted(bytes), tag(16);
    random_.fill(plain.data(), bytes);
    reference_seal({cipher, 32, key_, Bytes(iv_, iv_ + 12), {}}, plain.data(), encrypted.data(),
                   bytes, tag.data());
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
      Bytes data = direction == LC_ENCRYPT ? plain : encrypted;
      lc_aead_part part = {};
      for (size_t n = 0; n + 1 < cuts.size(); ++n) {
        lc_message message = {};
        message.key = key_;
        message.iv = iv_;
        message.in = message.out = data.data() + cuts[n];
        message.length = cuts[n + 1] - cuts[n];
        message.part = &part;
        part.text_before = cuts[n];
        const lc_cipher_job job = job_of(message, cipher, direction);
        run(job);
      }
      EXPECT_EQ(data, direction == LC_ENCRYPT ? encrypted : plain);
      EXPECT_EQ(tag_of(cipher, part.sum, bytes), tag)
          << cipher_name(cipher, 32) << ", " << bytes << " bytes, direction " << direction;
    }
  }

  Random random_{77};
  uint8_t key_[32], iv_[12];
};

TEST_P(AeadPart, SumsMakeTheTag) {
  for (const lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305}) {
    const uint64_t block = cipher == LC_AES_GCM ? 16 : 64;
    for (uint64_t bytes = 1; bytes < 1100; bytes += 1 + random_.below(60)) {
      std::vector<uint64_t> cuts = {0};
      while (cuts.back() < bytes) {
        const uint64_t next = cuts.back() + block * (1 + random_.below(8));
        cuts.push_back(std::min(next, bytes));
      }
      check(cipher, bytes, cuts);
    }
    check(cipher, 300001, {0, 64, 262144, 300001});
  }
}

TEST_P(AeadPart, WrongParts) {
  Bytes data(64);
  lc_aead_part part = {};
  lc_message message = {};
  message.key = key_;
  message.iv = iv_;
  message.in = message.out = data.data();
  message.length = data.size();
  message.part = &part;
  const auto status = [&](lc_cipher cipher) {
    const lc_cipher_job job = job_of(message, cipher, LC_ENCRYPT);
    return lc_run(context(), &job, nullptr);
  };
  part.text_before = 8;
  EXPECT_EQ(status(LC_AES_GCM), LC_ERROR_ARGUMENT);
  part.text_before = 16;
  EXPECT_EQ(status(LC_CHACHA20_POLY1305), LC_ERROR_ARGUMENT);
  part.text_before = uint64_t{1} << 36;
  EXPECT_EQ(status(LC_AES_GCM), LC_ERROR_ARGUMENT);
  part.text_before = 0;
  message.aad = data.data();
  message.aad_length = 5;
  EXPECT_EQ(status(LC_AES_GCM), LC_ERROR_ARGUMENT);
  message.aad_length = 0;
  const lc_cipher_job right = job_of(message, LC_AES_GCM, LC_ENCRYPT);
  run(right);
}

// The last blocks that an IV allows, and one byte more, on the device and on the CPU.
TEST_P(AeadPart, LongestText) {
  Context none("none", LC_FALLBACK_CPU);
  for (const lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305}) {
    constexpr uint64_t kLast = 3 * 64;
    const bool gcm = cipher == LC_AES_GCM;
    const uint64_t most = gcm ? (uint64_t{1} << 36) - 32 : (uint64_t{1} << 38) - 64;
    const uint32_t counter = static_cast<uint32_t>((uint64_t{1} << 32) - kLast / (gcm ? 16 : 64));
    uint8_t start[16] = {};
    std::memcpy(start + (gcm ? 0 : 4), iv_, 12);
    for (int n = 0; n < 4; ++n) start[gcm ? 15 - n : n] = static_cast<uint8_t>(counter >> (8 * n));
    Bytes text(kLast + 1), made(kLast + 1), expected(kLast);
    random_.fill(text.data(), text.size());
    reference_crypt({gcm ? LC_AES_CTR : LC_CHACHA20, LC_ENCRYPT, 32}, key_, start, text.data(),
                    expected.data(), kLast);
    lc_aead_part part = {};
    part.text_before = most - kLast;
    lc_message message = {};
    message.key = key_;
    message.iv = iv_;
    message.in = text.data();
    message.out = made.data();
    message.part = &part;
    message.length = kLast;
    run(job_of(message, cipher, LC_ENCRYPT));
    EXPECT_EQ(Bytes(made.begin(), made.begin() + kLast), expected) << cipher_name(cipher, 32);
    std::fill(made.begin(), made.end(), 0);
    const lc_cipher_job job = job_of(message, cipher, LC_ENCRYPT);
    part.text_before = most - kLast;
    EXPECT_EQ(lc_run(none.get(), &job, nullptr), LC_OK) << lc_last_error();
    EXPECT_EQ(Bytes(made.begin(), made.begin() + kLast), expected) << cipher_name(cipher, 32);
    std::fill(made.begin(), made.end(), 0);
    message.length = kLast + 1;
    for (lc_context *const one : {context(), none.get()})
      EXPECT_EQ(lc_run(one, &job, nullptr), LC_ERROR_ARGUMENT);
    EXPECT_EQ(made, Bytes(kLast + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, AeadPart, testing::ValuesIn(devices_under_test()),
                         device_case_name);

}  // namespace

// The library's CPU code does the parts that no device can do.
TEST(AeadPartOnCpu, GivesTheSameSums) {
  Context none("none", LC_FALLBACK_CPU), host("host", LC_FALLBACK_NONE);
  const Bytes key(32, 7), iv(12, 9);
  for (const lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305})
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
      for (const uint64_t bytes : {1u, 500u, 1024u, 5000u, 300000u}) {
        lc_aead_part parts[2] = {};
        Bytes data[2];
        int side = 0;
        for (Context *context : {&none, &host}) {
          data[side].assign(bytes, 0x33);
          lc_message message = {};
          message.key = key.data();
          message.iv = iv.data();
          message.in = message.out = data[side].data();
          message.length = bytes;
          message.part = &parts[side];
          parts[side].text_before = 640;
          parts[side].sum[0] = 12345;
          lc_cipher_job job = {};
          job.struct_size = sizeof job;
          job.cipher = cipher;
          job.direction = direction;
          job.key_bytes = 32;
          job.device = LC_ANY_DEVICE;
          job.messages = &message;
          job.message_count = 1;
          job.message_size = sizeof message;
          LANECRYPT_ASSERT_OK(lc_run(context->get(), &job, nullptr));
          ++side;
        }
        EXPECT_EQ(data[0], data[1]) << bytes;
        Block tags[2];
        for (side = 0; side < 2; ++side) {
          // The tags are compared, not the limbs: one number has several representations in limbs.
          Poly sum;
          std::memcpy(sum.w, parts[side].sum, sizeof sum.w);
          tags[side] = cipher == LC_AES_GCM ? load(reinterpret_cast<uint8_t *>(parts[side].sum))
                                            : poly_finish(sum, Block{});
        }
        EXPECT_EQ(std::memcmp(&tags[0], &tags[1], sizeof tags[0]), 0) << cipher << " " << bytes;
      }
}

}  // namespace lanecrypt::test
