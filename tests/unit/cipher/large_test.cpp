// Messages longer than a chunk, on every device. Data, counters and CBC chains continue correctly
// from chunk to chunk.
//
// SPDX-License-Identifier: Apache-2.0
#include "job/cipher/cipher_info.h"
#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

constexpr uint64_t kMiB = 1 << 20;
// As in src/pipeline/pipeline.h. If that value changes, these tests still pass, but may no longer
// cross a chunk border where they intend to.
constexpr uint64_t kChunkBytes = 16 * kMiB;

class Large : public DeviceTest {
 protected:
  void check(lc_cipher cipher, lc_direction direction, uint32_t key_bytes, uint64_t length,
             DataMemory data_memory, bool in_place) {
    BatchShape shape;
    shape.cipher = cipher;
    shape.direction = direction;
    shape.key_bytes = key_bytes;
    shape.data_memory = data_memory;
    MessageShape message;
    message.length = length;
    message.in_place = in_place;
    message.in_alignment = 3;
    message.out_alignment = 10;
    shape.messages = {message};
    Batch batch(context(), shape, random_);
    run_and_check(batch);
  }

  Random random_{197};
};

TEST_P(Large, Ctr) {
  check(LC_AES_CTR, LC_DECRYPT, 32, 17 * kMiB + 5, DataMemory::kPinned, true);
  if (scaled(10) < 10) return;
  check(LC_AES_CTR, LC_ENCRYPT, 16, 40 * kMiB + 5, DataMemory::kHost, false);
  if (!is_thorough()) return;
  check(LC_AES_CTR, LC_ENCRYPT, 24, 40 * kMiB + 5, DataMemory::kPinned, false);
  check(LC_AES_CTR, LC_ENCRYPT, 32, 40 * kMiB + 5, DataMemory::kDevice, true);
  check(LC_AES_CTR, LC_ENCRYPT, 16, 40 * kMiB + 5, DataMemory::kHost, true);
}

TEST_P(Large, Ecb) {
  check(LC_AES_ECB, LC_ENCRYPT, 32, 17 * kMiB + 16, DataMemory::kHost, true);
  if (!is_thorough()) return;
  check(LC_AES_ECB, LC_DECRYPT, 16, 40 * kMiB + 16, DataMemory::kPinned, false);
  check(LC_AES_ECB, LC_DECRYPT, 24, 40 * kMiB + 16, DataMemory::kDevice, false);
}

TEST_P(Large, CbcDecryption) {
  check(LC_AES_CBC, LC_DECRYPT, 16, 33 * kMiB + 16, DataMemory::kHost, true);
  check(LC_AES_CBC, LC_DECRYPT, 32, 17 * kMiB + 16, DataMemory::kDevice, true);
  if (!is_thorough()) return;
  check(LC_AES_CBC, LC_DECRYPT, 32, 40 * kMiB + 16, DataMemory::kHost, false);
  check(LC_AES_CBC, LC_DECRYPT, 24, 40 * kMiB + 16, DataMemory::kPinned, true);
  check(LC_AES_CBC, LC_DECRYPT, 32, 40 * kMiB + 16, DataMemory::kPinned, false);
}

class LargeStream : public Large {};

TEST_P(LargeStream, CbcEncryption) {
  check(LC_AES_CBC, LC_ENCRYPT, 16, kChunkBytes + 1024, DataMemory::kHost, false);
  if (!is_thorough()) return;
  check(LC_AES_CBC, LC_ENCRYPT, 32, 33 * kMiB, DataMemory::kPinned, true);
  check(LC_AES_CBC, LC_ENCRYPT, 24, 17 * kMiB, DataMemory::kDevice, true);
}

INSTANTIATE_TEST_SUITE_P(, LargeStream, testing::ValuesIn(devices_for_one_stream()),
                         device_case_name);

// Streams with more bytes than a chunk takes, which are cut into slices.
TEST_P(Large, CbcEncryptionInSlices) {
  for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kPinned}) {
    if (data_memory == DataMemory::kPinned && !is_thorough()) return;
    BatchShape shape;
    shape.cipher = LC_AES_CBC;
    shape.data_memory = data_memory;
    for (uint32_t n = 0; n < 50; n++) {
      MessageShape message;
      message.length = 16 * (20000 + 1000 * (n % 7) + n);
      message.in_place = n % 2;
      message.in_alignment = n % 16;
      message.key = n % 20;
      shape.messages.push_back(message);
    }
    Batch batch(context(), shape, random_);
    run_and_check(batch);
  }
}

// Many short streams, each of which is processed in one piece, in chunks that are computed
// concurrently.
TEST_P(Large, CbcEncryptionOfShortStreams) {
  for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kPinned}) {
    if (data_memory == DataMemory::kPinned && !is_thorough()) return;
    BatchShape shape;
    shape.cipher = LC_AES_CBC;
    shape.data_memory = data_memory;
    for (uint32_t n = 0; n < 3000; n++) {
      MessageShape message;
      message.length = 16 * (600 + n % 700);
      message.in_place = n % 2;
      message.key = n % 3;
      shape.messages.push_back(message);
    }
    Batch batch(context(), shape, random_);
    run_and_check(batch);
  }
}

// Several messages in a job, of a few MiB and odd lengths, in each mode.
TEST_P(Large, Several) {
  for (lc_cipher cipher : {LC_AES_CTR, LC_AES_CBC, LC_AES_ECB}) {
    if (cipher != LC_AES_CTR && !is_thorough()) return;
    BatchShape shape;
    shape.cipher = cipher;
    shape.direction = LC_DECRYPT;
    shape.key_bytes = 24;
    for (uint64_t length : {3 * kMiB + 1, kChunkBytes - 1, kMiB - 15, kChunkBytes + 17, kMiB}) {
      MessageShape message;
      message.length = cipher == LC_AES_CTR ? length : length / 16 * 16;
      message.in_alignment = static_cast<uint32_t>(random_.below(16));
      message.out_alignment = static_cast<uint32_t>(random_.below(16));
      shape.messages.push_back(message);
    }
    Batch batch(context(), shape, random_);
    run_and_check(batch);
  }
}

// Every mode, direction and key size, with odd lengths. If threads share a message, there is one
// message of more than a chunk. If each block depends on the one before, there are streams that are
// more than a chunk together. Emulated devices do a chunk of each mode with one key size, and less
// with the others. OpenCL on a CPU does a chunk only for AES.
TEST_P(Large, EveryModeAndKey) {
  uint32_t turn = 0, larger = 0;
  for (const lc_cipher cipher : plain_modes())
    for (const lc_direction direction : {LC_DECRYPT, LC_ENCRYPT})
      for (const uint32_t key_bytes : key_sizes(cipher)) {
        if (!offers(cipher)) continue;
        const bool is_chain = cipher_info(cipher).is_chain(direction);
        // The tests above cover ECB, CBC and CTR.
        const BlockCipher *block = cipher_info(cipher).block;
        const bool is_another = block != nullptr && block != kBlockCiphers;
        const bool one_key = cipher > LC_AES_CTR && direction == LC_DECRYPT && !is_chain &&
                             key_bytes == key_sizes(cipher).back() && !(is_quick() && is_another);
        const bool is_large = is_thorough() || (one_key && scaled(10) >= 10);
        const uint64_t bytes = is_large ? 17 * kMiB : 100000;
        larger += bytes > kChunkBytes;
        BatchShape shape;
        shape.cipher = cipher;
        shape.direction = direction;
        shape.key_bytes = key_bytes;
        if (cipher_info(cipher).has_data_units()) shape.data_unit_bytes = 5003;
        shape.data_memory = is_thorough() ? static_cast<DataMemory>(turn % 3) : DataMemory::kHost;
        const uint32_t streams = !is_chain ? 1 : is_thorough() ? 1000 : 40;
        for (uint32_t n = 0; n < streams; n++) {
          MessageShape message;
          message.length = allowed_length(cipher, shape.data_unit_bytes,
                                          (bytes / streams + 37 * (n % 9) + 21) | 1);
          message.in_alignment = (turn + n) % 16;
          message.out_alignment = (3 * turn + 5 * n) % 16;
          message.in_place = (turn + n) % 2;
          message.key = n % 7;
          shape.messages.push_back(message);
        }
        turn++;
        Batch batch(context(), shape, random_);
        run_and_check(batch);
        if (HasFailure()) return;
      }
  EXPECT_GT(turn, 0u);
  RecordProperty("cases", static_cast<int>(turn));
  RecordProperty("longer than a chunk", static_cast<int>(larger));
}

INSTANTIATE_TEST_SUITE_P(, Large, testing::ValuesIn(devices_under_test()), device_case_name);

}  // namespace
}  // namespace lanecrypt::test
