// Every short length, alone and together, on every device, compared with OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#include "job/cipher/cipher_info.h"
#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

constexpr uint64_t kMostBytes = 1100;

class Lengths : public DeviceTest {
 protected:
  // Visits the shape of every cipher, direction and key size.
  template <typename Visit>
  void for_each_cipher(Visit visit) {
    for (lc_cipher cipher : plain_modes())
      for (lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
        for (uint32_t key_bytes : key_sizes(cipher)) {
          BatchShape shape;
          shape.cipher = cipher;
          shape.direction = direction;
          shape.key_bytes = key_bytes;
          visit(shape);
          if (HasFailure()) return;
        }
  }
  static uint64_t step(const BatchShape &shape) { return cipher_info(shape.cipher).granule_bytes; }

  // A bitsliced kernel takes as long for one message as for 32.
  bool is_lone_slice(bool is_alone) const { return is_alone && GetParam().form == "bitslice"; }

  // Returns the sampling interval for lengths. It is above 1 for chains in a bitsliced kernel that
  // has one message, and for block ciphers other than AES, whose modes use the same code.
  uint64_t thinned(const BatchShape &shape, bool is_alone) {
    if (is_thorough() && !is_lone_slice(is_alone)) return 1;
    // With a scale below 1, the test Alone does its own sampling.
    const uint64_t sampled = is_scaled_down() && !is_alone ? 7 : 1;
    const bool is_chain = cipher_info(shape.cipher).is_chain(shape.direction);
    const BlockCipher *block = cipher_info(shape.cipher).block;
    const uint64_t of_block = block == nullptr || block == kBlockCiphers ? 1 : 3;
    return (is_quick() ? 3 : 1) * of_block * sampled *
           (is_lone_slice(is_alone) && is_chain ? 5 : 1);
  }

  MessageShape message(const BatchShape &shape, uint64_t length) {
    MessageShape message;
    message.length = allowed_length(shape.cipher, shape.data_unit_bytes, length);
    message.in_alignment = static_cast<uint32_t>(random_.below(16));
    message.out_alignment = static_cast<uint32_t>(random_.below(16));
    message.in_place = random_.below(2) == 0;
    return message;
  }

  Random random_{20011126};
};

TEST_P(Lengths, Alone) {
  // With a scale below 1, or with one message in a bitsliced kernel, each cipher skips some
  // lengths, and different ciphers skip different ones.
  const bool is_thinned = !is_thorough() || is_lone_slice(true);
  const uint64_t stride =
      std::max<uint64_t>(is_lone_slice(true) ? 2 : 1, 100 / std::min<uint64_t>(100, scaled(100)));
  uint64_t cases = 0, turn = 0;
  for_each_cipher([&](BatchShape &shape) {
    for (uint64_t length = 0; length <= kMostBytes; length += step(shape)) {
      // The test Together runs all lengths.
      const uint64_t of_cipher = !is_thinned || shape.cipher <= LC_AES_CTR ? 1 : 5;
      const uint64_t of_device = GetParam().is_gl() && !GetParam().is_gpu ? 3 : 1;
      const uint64_t fewer = of_cipher * of_device;
      if (turn++ % (stride * thinned(shape, true) * fewer)) continue;
      shape.messages = {message(shape, length)};
      shape.data_memory = cases % 3 ? DataMemory::kHost : static_cast<DataMemory>(cases / 3 % 3);
      Batch batch(context(), shape, random_);
      run_and_check(batch);
      if (HasFailure()) return;
      cases++;
    }
  });
  RecordProperty("cases", static_cast<int>(cases));
}

TEST_P(Lengths, Together) {
  for_each_cipher([&](BatchShape &shape) {
    for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kPinned, DataMemory::kDevice}) {
      shape.data_memory = data_memory;
      shape.messages.clear();
      for (uint64_t length = 0, turn = 0; length <= kMostBytes; length += step(shape), turn++) {
        // Each kind of memory skips different lengths. All try the longest.
        if (length != kMostBytes &&
            (turn + int(data_memory) + shape.key_bytes) % thinned(shape, false))
          continue;
        shape.messages.push_back(message(shape, length));
        shape.messages.back().key = static_cast<uint32_t>(random_.below(length + 1));
      }
      Batch batch(context(), shape, random_);
      run_and_check(batch);
    }
  });
}

// Every alignment of input with every alignment of output.
TEST_P(Lengths, Alignments) {
  Sample sample(5);
  for_each_cipher([&](BatchShape &shape) {
    for (DataMemory data_memory : {DataMemory::kHost, DataMemory::kDevice}) {
      shape.data_memory = data_memory;
      shape.messages.clear();
      for (uint32_t in = 0; in < 16; in++)
        for (uint32_t out = 0; out <= 16; out++) {
          MessageShape message;
          message.length = step(shape) == 1 ? 16 * (in + 1) + out : 16 * (in + out);
          message.in_alignment = in;
          message.out_alignment = out % 16;
          message.in_place = out == 16;
          // If only some pairs run, each kind of memory has the pairs that the other one skips.
          if (is_quick() && (in + out + (data_memory == DataMemory::kDevice)) % 2) continue;
          if (!sample.takes_next()) continue;
          shape.messages.push_back(message);
        }
      Batch batch(context(), shape, random_);
      run_and_check(batch);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, Lengths, testing::ValuesIn(devices_in_every_form()), device_case_name);

}  // namespace
}  // namespace lanecrypt::test
