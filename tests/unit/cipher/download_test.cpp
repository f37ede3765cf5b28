// Jobs with input in device memory and output in host memory, pinned or pageable, on every device,
// compared with OpenSSL: many chunks or none, one message and many, at any alignment.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "job/cipher/cipher_info.h"
#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

// Downloads of one kind, all in one job.
struct Kind {
  lc_cipher cipher;
  uint32_t key_bytes = 32;
  bool has_aad = false;
  bool is_long = false;  // one of the messages takes several chunks
  uint64_t data_unit_bytes = 0;

  bool is_aead() const { return cipher_info(cipher).is_aead; }
};

class Download : public DeviceTest {
 protected:
  // Each key has two messages.
  std::vector<uint64_t> lengths(const Kind &kind) const {
    std::vector<uint64_t> all = {16, 4096, 100003, 1, 70001, 0, 333};
    all.push_back(kind.is_long && !is_quick() ? (9 << 20) + 37 : 200011);
    for (uint64_t &length : all) length = allowed_length(kind.cipher, kind.data_unit_bytes, length);
    return all;
  }

  void run_kind(const Kind &kind, bool pinned, lc_direction direction, bool wrong_tags = false);

  Random random_{2323};
};

void Download::run_kind(const Kind &kind, bool pinned, lc_direction direction, bool wrong_tags) {
  const std::vector<uint64_t> lengths = this->lengths(kind);
  const size_t count = lengths.size();
  const bool seals = direction == LC_ENCRYPT;
  constexpr uint64_t kGap = 64;
  uint64_t bytes = kGap;
  for (const uint64_t length : lengths) bytes += length + kGap;
  Bytes keys(count * 32 * 2), ivs(count * 16), aad(count * 50, 0), input(bytes), expected(bytes);
  for (Bytes *some : {&keys, &ivs, &aad, &input, &expected})
    random_.fill(some->data(), some->size());
  Bytes tags(count * 16, 0xa5), right_tags(count * 16);
  void *on_device = nullptr, *out = nullptr;
  Bytes ordinary(bytes + 4096);
  LANECRYPT_ASSERT_OK(lc_alloc_device(context(), 0, bytes, &on_device));
  if (pinned)
    LANECRYPT_ASSERT_OK(lc_alloc_pinned(context(), bytes, &out));
  else
    out = ordinary.data() + 3;
  std::memcpy(out, expected.data(), bytes);

  std::vector<lc_message> messages;
  uint64_t at = kGap;
  for (size_t n = 0; n < count; n++) {
    const uint64_t length = lengths[n], aad_bytes = kind.has_aad ? 10 + 5 * n : 0;
    const uint8_t *key = keys.data() + n / 2 * 64;
    const uint8_t *iv = ivs.data() + 16 * n;
    Bytes plain(input.begin() + at, input.begin() + at + length), cipher(length);
    if (kind.is_aead())
      reference_seal({kind.cipher, kind.key_bytes, key, Bytes(iv, iv + 12),
                      Bytes(aad.begin() + 50 * n, aad.begin() + 50 * n + aad_bytes)},
                     plain.data(), cipher.data(), length, right_tags.data() + 16 * n);
    else
      reference_crypt({kind.cipher, LC_ENCRYPT, kind.key_bytes, kind.data_unit_bytes}, key, iv,
                      plain.data(), cipher.data(), length);
    const Bytes &right = seals ? cipher : plain, &given = seals ? plain : cipher;
    std::copy(given.begin(), given.end(), input.begin() + at);
    std::copy(right.begin(), right.end(), expected.begin() + at);
    lc_message message = plain_message(key, iv, static_cast<uint8_t *>(on_device) + at,
                                       static_cast<uint8_t *>(out) + at, length);
    if (kind.is_aead()) {
      message.aad = aad.data() + 50 * n;
      message.aad_length = aad_bytes;
      message.tag = tags.data() + 16 * n;
    }
    messages.push_back(message);
    at += length + kGap;
  }
  if (!seals) tags = right_tags;
  // The last message, which is the longest, and one of a single byte.
  const std::vector<size_t> wrong =
      wrong_tags ? std::vector<size_t>{count - 1, 3} : std::vector<size_t>{};
  for (const size_t n : wrong) {
    tags[16 * n + 5] ^= 4;
    const uint64_t from =
        static_cast<const uint8_t *>(messages[n].in) - static_cast<const uint8_t *>(on_device);
    std::fill_n(expected.begin() + from, messages[n].length, 0);
  }
  LANECRYPT_ASSERT_OK(lc_copy_to_device(context(), 0, on_device, input.data(), bytes));
  std::vector<lc_status> statuses(count, LC_PENDING);
  lc_cipher_job job = {};
  job.struct_size = sizeof job;
  job.cipher = kind.cipher;
  job.direction = direction;
  job.key_bytes = kind.key_bytes;
  job.memory = LC_MEMORY_DEVICE_TO_HOST;
  job.device = LC_ANY_DEVICE;
  job.data_unit_bytes = kind.data_unit_bytes;
  job.messages = messages.data();
  job.message_count = count;
  job.message_size = sizeof messages[0];
  if (kind.is_aead()) job.message_status = statuses.data();
  if (wrong_tags) {
    EXPECT_EQ(LC_ERROR_TAG, lc_run(context(), &job, nullptr));
    expect_done(job);
    for (size_t n = 0; n < count; n++)
      EXPECT_EQ(std::count(wrong.begin(), wrong.end(), n) != 0 ? LC_ERROR_TAG : LC_OK, statuses[n]);
  } else {
    run(job);
  }
  const auto *text = static_cast<const uint8_t *>(out);
  const auto differs = std::mismatch(expected.begin(), expected.end(), text).first;
  EXPECT_TRUE(differs == expected.end()) << "from byte " << differs - expected.begin() << " on";
  if (kind.is_aead() && seals) {
    EXPECT_EQ(right_tags, tags);
  }
  Bytes after(bytes);
  LANECRYPT_ASSERT_OK(lc_copy_from_device(context(), 0, after.data(), on_device, bytes));
  EXPECT_TRUE(after == input) << "the input has changed";
  LANECRYPT_ASSERT_OK(lc_free_device(context(), 0, on_device));
  if (pinned) lc_free_pinned(context(), out);
}

TEST_P(Download, OfEveryCipherThatHasIt) {
  const Kind kinds[] = {
      {.cipher = LC_AES_GCM, .is_long = true},
      {.cipher = LC_AES_GCM, .key_bytes = 16, .has_aad = true},
      {.cipher = LC_CHACHA20_POLY1305},
      {.cipher = LC_CHACHA20_POLY1305, .has_aad = true},
      {.cipher = LC_AES_CTR, .is_long = true},
      {.cipher = LC_AES_ECB},
      {.cipher = LC_AES_XTS, .key_bytes = 64, .data_unit_bytes = 4096},
      {.cipher = LC_CHACHA20},
  };
  bool pinned = false;
  for (const Kind &kind : kinds)
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
      if (!offers(kind.cipher)) continue;
      // Alternates, so that each kind uses pinned memory in one case and pageable memory in the
      // other.
      pinned = !pinned;
      SCOPED_TRACE(cipher_name(kind.cipher, kind.key_bytes) + (kind.has_aad ? " with AAD" : "") +
                   (direction == LC_ENCRYPT ? " encryption" : " decryption") +
                   (pinned ? " to pinned memory" : " to ordinary memory"));
      run_kind(kind, pinned, direction);
      if (HasFatalFailure()) return;
    }
}

TEST_P(Download, WipesWhereATagIsWrong) {
  for (const lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305})
    for (const bool pinned : {false, true}) {
      if (!offers(cipher)) continue;
      SCOPED_TRACE(cipher_name(cipher, 32) +
                   (pinned ? " to pinned memory" : " to ordinary memory"));
      run_kind({.cipher = cipher, .has_aad = true, .is_long = cipher == LC_AES_GCM && !pinned},
               pinned, LC_DECRYPT, true);
      if (HasFatalFailure()) return;
    }
}

// The tags follow their texts in the output, as in a file.
TEST_P(Download, OfSegments) {
  if (!offers(LC_AES_GCM)) GTEST_SKIP() << GetParam().id << " seals nothing";
  constexpr uint64_t kSegment = 5000, kBytes = 7 * kSegment + 123, kCount = 8;
  Bytes key(32), nonce(12), text(kBytes), sealed(kBytes + 16 * kCount), expected(sealed.size());
  for (Bytes *some : {&key, &nonce, &text}) random_.fill(some->data(), some->size());
  for (uint64_t n = 0; n < kCount; n++) {
    Bytes iv = nonce;
    for (size_t byte = 8; byte < 11; byte++) iv[byte] = 0;
    iv[11] = static_cast<uint8_t>(n);
    const uint64_t at = n * kSegment, to = n * (kSegment + 16);
    const uint64_t length = std::min(kSegment, kBytes - at);
    reference_seal({LC_AES_GCM, 32, key.data(), iv, {}}, text.data() + at, expected.data() + to,
                   length, expected.data() + to + length);
  }
  void *on_device = nullptr;
  LANECRYPT_ASSERT_OK(lc_alloc_device(context(), 0, expected.size(), &on_device));
  LANECRYPT_ASSERT_OK(lc_copy_to_device(context(), 0, on_device, text.data(), kBytes));
  lc_segments segments = {};
  segments.struct_size = sizeof segments;
  segments.key = key.data();
  segments.in = on_device;
  segments.out = sealed.data();
  segments.text_bytes = kBytes;
  segments.segment_bytes = kSegment;
  segments.nonce = nonce.data();
  segments.number = {.at = 8, .bytes = 4, .little_endian = 0, .first = 0};
  lc_cipher_job job = {};
  job.struct_size = sizeof job;
  job.cipher = LC_AES_GCM;
  job.key_bytes = 32;
  job.memory = LC_MEMORY_DEVICE_TO_HOST;
  job.device = LC_ANY_DEVICE;
  job.segments = &segments;
  LANECRYPT_ASSERT_OK(lc_run(context(), &job, nullptr));
  expect_done(1, kBytes);
  EXPECT_EQ(expected, sealed);
  // For decryption, tags behind the texts would lie in device memory, which the host cannot read.
  job.direction = LC_DECRYPT;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context(), &job, nullptr));
  LANECRYPT_ASSERT_OK(lc_free_device(context(), 0, on_device));
}

TEST_P(Download, RefusesWhatItCannotDo) {
  void *on_device = nullptr;
  LANECRYPT_ASSERT_OK(lc_alloc_device(context(), 0, 64, &on_device));
  Bytes key(64), iv(16), out(64, 7), tag(16);
  lc_message message = plain_message(key.data(), iv.data(), on_device, out.data(), 64);
  message.tag = tag.data();
  lc_cipher_job job = {};
  job.struct_size = sizeof job;
  job.key_bytes = 32;
  job.memory = LC_MEMORY_DEVICE_TO_HOST;
  job.device = LC_ANY_DEVICE;
  job.messages = &message;
  job.message_count = 1;
  job.message_size = sizeof message;
  for (const lc_cipher cipher : {LC_AES_CBC, LC_AES_CFB128, LC_AES_OFB, LC_AES_CBC_CS1, LC_AES_CCM})
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
      job.cipher = cipher;
      job.direction = direction;
      EXPECT_EQ(LC_ERROR_UNSUPPORTED, lc_run(context(), &job, nullptr));
    }
  job.cipher = LC_AES_GCM;
  job.tag_memory = LC_MEMORY_DEVICE;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context(), &job, nullptr));
  job.tag_memory = LC_MEMORY_HOST;
  job.direction = LC_DECRYPT;
  job.verdicts = on_device;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context(), &job, nullptr));
  job.verdicts = nullptr;
  job.device = LC_CPU;
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context(), &job, nullptr));
  EXPECT_EQ(Bytes(64, 7), out);
  LANECRYPT_ASSERT_OK(lc_free_device(context(), 0, on_device));
}

INSTANTIATE_TEST_SUITE_P(, Download, testing::ValuesIn(devices_under_test()), device_case_name);

}  // namespace
}  // namespace lanecrypt::test
