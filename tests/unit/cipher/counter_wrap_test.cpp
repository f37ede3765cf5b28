// CTR counts in all 128 bits. These tests carry out of 32, 64 and 128 bits, anywhere in a message,
// on every device.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

constexpr uint64_t kChunkBytes = 16 << 20;  // as in src/pipeline/pipeline.h

// Sets the low `bits` bits of a counter block so that block `at` of the message is the first after
// they wrap to 0.
void wrap_at(uint8_t *iv, int bits, uint64_t at) {
  std::fill(iv + 16 - bits / 8, iv + 16, 0);
  for (int i = 15; i >= 16 - bits / 8; i--) {
    const int low = static_cast<int>(at & 0xff);
    iv[i] = static_cast<uint8_t>(-low);
    at = (at >> 8) + (low != 0);
  }
}

class CounterWrap : public DeviceTest {
 protected:
  Random random_{128};
};

class CounterWrapAtSeams : public CounterWrap {};

// OpenSSL confirms the counter arithmetic of these tests.
TEST(CounterWrapArithmetic, BlockAfterTheWrapIsZero) {
  const uint8_t key[16] = {1};
  for (int bits : {32, 64, 128})
    for (uint64_t at : {0, 1, 255, 256, 257, 65536}) {
      uint8_t iv[16] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, zero[16] = {};
      std::fill(zero, zero + 16 - bits / 8, 7);
      for (int i = 15 - bits / 8; at > 0 && i >= 0; i--)
        if (++zero[i] != 0) break;
      wrap_at(iv, bits, at);
      Bytes text(16 * (at + 1)), stream(text.size()), expected(16), none(16);
      reference_crypt({LC_AES_CTR, LC_ENCRYPT, 16}, key, iv, text.data(), stream.data(),
                      text.size());
      reference_crypt({LC_AES_CTR, LC_ENCRYPT, 16}, key, zero, none.data(), expected.data(), 16);
      EXPECT_EQ(expected, Bytes(stream.end() - 16, stream.end())) << bits << " bits at " << at;
    }
}

TEST_P(CounterWrap, AnywhereInAMessage) {
  for (uint32_t key_bytes : {16u, 24u, 32u})
    for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kDevice}) {
      BatchShape shape;
      shape.cipher = LC_AES_CTR;
      shape.key_bytes = key_bytes;
      shape.data_memory = data_memory;
      std::vector<std::pair<int, uint64_t>> wraps;
      for (int bits : {32, 64, 128})
        for (uint64_t at :
             {0,  1,  2,   3,   4,   5,   7,   8,   15,  16,  17,   31,   32,   33,   63,
              64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 1023, 1024, 1025, 4095, 4096}) {
          MessageShape message;
          message.length = 16 * (at + 20) + random_.below(600);
          message.in_alignment = static_cast<uint32_t>(random_.below(16));
          message.in_place = random_.below(2) == 0;
          message.key = static_cast<uint32_t>(wraps.size() % 5);
          shape.messages.push_back(message);
          wraps.push_back({bits, at});
        }
      Batch batch(context(), shape, random_);
      for (size_t n = 0; n < wraps.size(); n++)
        wrap_at(batch.iv(n), wraps[n].first, wraps[n].second);
      batch.finish();
      run_and_check(batch);
    }
}

TEST_P(CounterWrapAtSeams, OfChunks) {
  for (int bits : {32, 64, 128})
    for (int64_t beside : {-1, 0, 1}) {
      // If the test is not thorough, it tries only one place for each width.
      if (!is_thorough() && beside != (bits == 32 ? -1 : bits == 64 ? 0 : 1)) continue;
      BatchShape shape;
      shape.cipher = LC_AES_CTR;
      shape.key_bytes = 16;
      shape.messages.resize(1);
      shape.messages[0].length = kChunkBytes + 5000;
      Batch batch(context(), shape, random_);
      wrap_at(batch.iv(0), bits, kChunkBytes / 16 + beside);
      batch.finish();
      run_and_check(batch);
    }
}

INSTANTIATE_TEST_SUITE_P(, CounterWrap, testing::ValuesIn(devices_in_every_form()),
                         device_case_name);
INSTANTIATE_TEST_SUITE_P(, CounterWrapAtSeams, testing::ValuesIn(devices_under_test()),
                         device_case_name);

}  // namespace
}  // namespace lanecrypt::test
