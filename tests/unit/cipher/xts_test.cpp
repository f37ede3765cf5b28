// XTS by either standard, on every device: data units of every kind in one message, each compared
// with OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

constexpr lc_cipher kCiphers[] = {LC_AES_XTS, LC_SM4_XTS, LC_SM4_XTS_GB};

class Xts : public DeviceTest {
 protected:
  BatchShape shape(lc_cipher cipher, lc_direction direction, uint32_t key_bytes, uint64_t unit) {
    BatchShape shape;
    shape.cipher = cipher;
    shape.direction = direction;
    shape.key_bytes = key_bytes;
    shape.data_unit_bytes = unit;
    return shape;
  }
  MessageShape message(uint64_t length) {
    MessageShape message;
    message.length = length;
    message.in_alignment = random_.below(2) ? 0 : static_cast<uint32_t>(random_.below(16));
    message.out_alignment = message.in_alignment ? static_cast<uint32_t>(random_.below(16)) : 0;
    message.in_place = random_.below(2) == 0;
    return message;
  }

  Random random_{1619};
};

// Units of one block, of partial blocks, and of sectors, with a shorter last one. There are enough
// of them to fill several tiles of a thread.
TEST_P(Xts, DataUnits) {
  for (lc_cipher cipher : kCiphers)
    for (lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
      for (uint32_t key_bytes : key_sizes(cipher))
        for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kDevice})
          for (uint64_t unit : {16, 17, 31, 32, 48, 100, 256, 496, 512, 520, 528, 1000, 2048, 2064,
                                4096, 4104, 5000}) {
            const uint64_t fewer = is_thorough() ? 1 : cipher == LC_AES_XTS ? 2 : 7;
            if ((unit + key_bytes + direction + int(data_memory)) % fewer) continue;
            BatchShape batch = shape(cipher, direction, key_bytes, unit);
            batch.data_memory = data_memory;
            for (uint64_t units : {1, 2, 3, 7, 40})
              for (uint64_t more : {uint64_t{0}, uint64_t{16}, unit / 2, unit - 1})
                batch.messages.push_back(
                    message(allowed_length(cipher, unit, units * unit + more)));
            for (size_t n = 0; n < batch.messages.size(); n++)
              batch.messages[n].key = static_cast<uint32_t>(n % 3);
            Batch made(context(), batch, random_);
            run_and_check(made);
            if (HasFailure()) return;
          }
}

// The tweak's number carries from byte to byte, and wraps.
TEST_P(Xts, ConsecutiveTweaks) {
  for (lc_cipher cipher : kCiphers) {
    BatchShape batch = shape(cipher, LC_ENCRYPT, 32, 32);
    for (int n = 0; n < 17; n++) batch.messages.push_back(message(32 * 40));
    Batch made(context(), batch, random_);
    for (int n = 0; n < 17; n++) {
      std::memset(made.iv(n), 0xff, n);
      if (n > 0) made.iv(n)[0] = 0xf0;
    }
    made.finish();
    run_and_check(made);
  }
}

// Units so large that computing the power of the tweak takes every possible step, and jobs that are
// cut between units.
TEST_P(Xts, LargeUnits) {
  for (lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
    for (uint64_t unit : {uint64_t{65536}, uint64_t{70000}, uint64_t{1} << 20, uint64_t{16} << 20})
      for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kDevice}) {
        const bool heavy = unit > 1 << 20;
        if (!is_thorough() && (heavy ? direction == LC_DECRYPT || data_memory == DataMemory::kDevice
                                     : (unit / 16 + direction + int(data_memory)) % 2))
          continue;
        if (heavy && scaled(10) < 10) continue;
        // The powers of a tweak do not depend on the cipher, only on the bit order, which GB/T
        // 17964 reverses.
        for (lc_cipher cipher : {LC_AES_XTS, LC_SM4_XTS_GB}) {
          if (cipher != LC_AES_XTS && unit > 70000) continue;
          BatchShape batch = shape(cipher, direction, key_sizes(cipher).back(), unit);
          batch.data_memory = data_memory;
          batch.messages = {message(heavy ? unit + 4099 : 3 * unit + 777), message(unit)};
          Batch made(context(), batch, random_);
          run_and_check(made);
        }
      }
}

// One data unit of the greatest length.
TEST_P(Xts, OneLargeUnit) {
  if (scaled(10) < 10) return;
  BatchShape batch = shape(LC_AES_XTS, LC_DECRYPT, 32, 0);
  batch.messages = {message((16 << 20) - 3)};
  Batch made(context(), batch, random_);
  run_and_check(made);
}

INSTANTIATE_TEST_SUITE_P(, Xts, testing::ValuesIn(devices_in_every_form()), device_case_name);

class XtsArguments : public testing::Test {
 protected:
  XtsArguments() {
    job_.struct_size = sizeof job_;
    job_.cipher = LC_AES_XTS;
    job_.key_bytes = 32;
    job_.device = LC_ANY_DEVICE;
    job_.messages = &message_;
    job_.message_count = 1;
    job_.message_size = sizeof message_;
    for (uint8_t n = 0; n < sizeof key_; n++) key_[n] = n;
    message_ = plain_message(key_, iv_, in_, out_, sizeof in_);
  }
  void refused(const char *words) {
    EXPECT_EQ(LC_ERROR_ARGUMENT, lc_run(context_.get(), &job_, nullptr));
    EXPECT_NE(nullptr, std::strstr(lc_last_error(), words)) << lc_last_error();
  }

  Context context_{"host:0", LC_FALLBACK_NONE};
  uint8_t key_[64], iv_[16] = {}, in_[100] = {}, out_[100] = {};
  lc_message message_{};
  lc_cipher_job job_{};
};

TEST_F(XtsArguments, OfThisTestAreRight) {
  LANECRYPT_ASSERT_OK(lc_run(context_.get(), &job_, nullptr));
}

TEST_F(XtsArguments, AlikeKeysMayOnlyDecrypt) {
  std::memcpy(key_ + 16, key_, 16);
  refused("the two halves of its key are the same");
  job_.direction = LC_DECRYPT;
  LANECRYPT_ASSERT_OK(lc_run(context_.get(), &job_, nullptr));
}

// OpenSSL accepts equal keys for SM4 too.
TEST_F(XtsArguments, AlikeKeysOfSm4MayEncrypt) {
  std::memcpy(key_ + 16, key_, 16);
  for (const lc_cipher cipher : {LC_SM4_XTS, LC_SM4_XTS_GB}) {
    job_.cipher = cipher;
    LANECRYPT_ASSERT_OK(lc_run(context_.get(), &job_, nullptr));
  }
  job_.key_bytes = 64;
  refused("a key of SM4-XTS-GB has 32 bytes, not 64");
}

TEST_F(XtsArguments, OfLengths) {
  message_.length = 15;
  refused("less than 16");
  message_.length = 70;
  for (uint64_t unit : {uint64_t{1}, uint64_t{15}, (uint64_t{16} << 20) + 1}) {
    job_.data_unit_bytes = unit;
    refused("a data unit has 16 bytes to 16 MiB");
  }
  job_.data_unit_bytes = 64;
  refused("the last data unit has less than 16");
  job_.data_unit_bytes = 0;
  job_.key_bytes = 48;
  refused("32 or 64 bytes");
  job_.key_bytes = 16;
  refused("32 or 64 bytes");
  std::vector<uint8_t> large((16 << 20) + 1);
  message_.in = message_.out = large.data();
  message_.length = large.size();
  job_.key_bytes = 32;
  refused("16 MiB");
}

}  // namespace
}  // namespace lanecrypt::test
