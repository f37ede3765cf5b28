// Many messages in one job, in every kind of memory and on every device, compared with OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

class Batches : public DeviceTest {
 protected:
  void check(const BatchShape &shape) {
    Batch batch(context(), shape, random_);
    run_and_check(batch);
  }
  // Returns `count` messages with different keys and lengths up to `most_bytes`.
  BatchShape many(lc_cipher cipher, lc_direction direction, uint32_t key_bytes, uint64_t count,
                  uint64_t most_bytes);

  Random random_{38};
};

BatchShape Batches::many(lc_cipher cipher, lc_direction direction, uint32_t key_bytes,
                         uint64_t count, uint64_t most_bytes) {
  BatchShape shape;
  shape.cipher = cipher;
  shape.direction = direction;
  shape.key_bytes = key_bytes;
  for (uint32_t n = 0; n < count; n++) {
    MessageShape message;
    message.length = allowed_length(cipher, 0, random_.below(most_bytes + 1));
    message.in_alignment = static_cast<uint32_t>(random_.below(16));
    message.out_alignment = static_cast<uint32_t>(random_.below(16));
    message.in_place = random_.below(2) == 0;
    message.key = n;
    shape.messages.push_back(message);
  }
  return shape;
}

TEST_P(Batches, AtRandom) {
  uint64_t cases = 0;
  for (uint64_t n = scaled(200); n > 0 && !HasFailure(); n--) {
    BatchShape shape = random_shape(random_, 24, n % 8 ? 2000 : 30000);
    check(shape);
    cases += shape.messages.size();
  }
  RecordProperty("cases", static_cast<int>(cases));
}

TEST_P(Batches, TwoMessages) {
  for (lc_cipher cipher : plain_modes())
    for (lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
      for (uint32_t key_bytes : key_sizes(cipher))
        check(many(cipher, direction, key_bytes, 2, 4096));
}

TEST_P(Batches, ThousandMessages) {
  for (lc_cipher cipher : plain_modes())
    for (lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
      for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kPinned, DataMemory::kDevice}) {
        if (!is_thorough() && (int{cipher} + int{direction} + static_cast<int>(data_memory)) % 3)
          continue;
        BatchShape shape = many(
            cipher, direction,
            data_memory == DataMemory::kHost ? key_sizes(cipher).back() : key_sizes(cipher).front(),
            is_scaled_down() ? 300 : 1000, is_quick() ? 200 : 600);
        shape.data_memory = data_memory;
        check(shape);
      }
}

// One message is much longer than the rest, so threads end at different times.
TEST_P(Batches, CbcStreamsOfUnequalLength) {
  for (uint32_t key_bytes : {16u, 24u, 32u}) {
    BatchShape shape = many(LC_AES_CBC, LC_ENCRYPT, key_bytes, 333, 3000);
    shape.messages[17].length = 16 * scaled(10000);
    shape.messages[18].length = 0;
    shape.messages[19].length = 16;
    check(shape);
    if (key_bytes != 24 && !is_thorough()) continue;
    shape.data_memory = DataMemory::kDevice;
    check(shape);
  }
}

TEST_P(Batches, OneKeyForAll) {
  for (lc_cipher cipher : plain_modes())
    for (lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
      BatchShape shape =
          many(cipher, direction, key_sizes(cipher)[key_sizes(cipher).size() / 2], 500, 700);
      for (MessageShape &message : shape.messages) message.key = 0;
      check(shape);
    }
}

// More keys than one launch takes.
TEST_P(Batches, ManyKeys) {
  for (lc_cipher cipher : plain_modes())
    check(many(cipher, LC_ENCRYPT, key_sizes(cipher).back(), is_thorough() ? 70000 : 2200, 64));
}

TEST_P(Batches, NothingToDo) {
  for (lc_cipher cipher : plain_modes()) {
    check(many(cipher, LC_ENCRYPT, key_sizes(cipher).front(), 5, 0));
    check(many(cipher, LC_DECRYPT, key_sizes(cipher).front(), 0, 0));
  }
}

INSTANTIATE_TEST_SUITE_P(, Batches, testing::ValuesIn(devices_in_every_form()), device_case_name);

}  // namespace
}  // namespace lanecrypt::test
