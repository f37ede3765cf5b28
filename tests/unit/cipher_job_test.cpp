// What becomes of a job of the ABI: its messages and keys, copied.
//
// SPDX-License-Identifier: Apache-2.0
#include "job/cipher_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace lanecrypt {
namespace {

// As many keys as there are addresses, in whatever order they come and come again.
TEST(CipherJobs, HaveTheKeyOfEachMessage) {
  constexpr uint32_t kKeyBytes = 24;
  for (const size_t keys : {size_t{1}, size_t{2}, size_t{9}, size_t{1000}}) {
    std::vector<uint8_t> key_bytes(keys * kKeyBytes);
    for (size_t n = 0; n < key_bytes.size(); ++n)
      key_bytes[n] = static_cast<uint8_t>(n / kKeyBytes * 37 + n / kKeyBytes / 256 + n % kKeyBytes);
    std::vector<uint8_t> data(16 * 3 * keys);
    std::vector<lc_message> messages;
    for (size_t n = 0; n < 3 * keys; ++n) {
      lc_message message = {};
      // Forwards, backwards, and each twice running.
      const size_t key = n < keys ? n : n < 2 * keys ? 2 * keys - 1 - n : (n - 2 * keys) / 2;
      message.key = &key_bytes[key * kKeyBytes];
      message.in = message.out = &data[16 * n];
      message.length = 16;
      messages.push_back(message);
    }
    lc_cipher_job asked = {};
    asked.struct_size = sizeof asked;
    asked.cipher = LC_AES_ECB;
    asked.direction = LC_ENCRYPT;
    asked.key_bytes = kKeyBytes;
    asked.messages = messages.data();
    asked.message_count = messages.size();
    asked.message_size = sizeof messages[0];
    Result<CipherJob> job = make_cipher_job(&asked);
    ASSERT_TRUE(job.ok()) << job.status().text();
    EXPECT_EQ(keys, job->key_count);
    ASSERT_EQ(messages.size(), job->messages.size());
    for (size_t n = 0; n < messages.size(); ++n) {
      const CipherMessage &message = job->messages[n];
      ASSERT_LT(message.key, job->key_count);
      const auto *wanted = static_cast<const uint8_t *>(messages[n].key);
      ASSERT_TRUE(std::equal(wanted, wanted + kKeyBytes, job->key(message.key)))
          << "message " << n << " of " << keys << " keys";
      EXPECT_EQ(messages[n].in, message.in);
    }
  }
}

}  // namespace
}  // namespace lanecrypt
