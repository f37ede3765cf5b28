// The known answers of the standards, on every device and in every form of the kernels.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "kernels/aead/poly1305_field.h"
#include "unit/support/devices.h"
#include "unit/support/vector_file.h"

namespace lanecrypt::test {
namespace {

class Vectors : public DeviceTest {
 protected:
  // Checks both directions of every case. All cases of a cipher go into one job, so that a launch
  // has different keys. Then the first case of each cipher runs alone.
  void check_file(const std::string &file_name, size_t cases);
  void check_together(const std::vector<VectorCase> &cases, lc_direction direction);
  // Checks each case alone, in both directions. With a wrong tag it must be refused.
  void check_seals(const std::string &file_name, size_t seals);
  lc_status run_seal(const VectorSeal &seal, lc_direction direction, Bytes *text, Bytes *tag);
};

void Vectors::check_together(const std::vector<VectorCase> &cases, lc_direction direction) {
  if (!offers(cases[0].cipher.mode)) return;
  std::vector<Bytes> outputs;
  std::vector<lc_message> messages;
  for (const VectorCase &vector : cases) outputs.emplace_back(vector.plaintext.size(), 0xa5);
  for (size_t n = 0; n < cases.size(); n++) {
    const VectorCase &vector = cases[n];
    const Bytes &in = direction == LC_ENCRYPT ? vector.plaintext : vector.ciphertext;
    messages.push_back(plain_message(vector.key.data(),
                                     vector.iv.empty() ? nullptr : vector.iv.data(), in.data(),
                                     outputs[n].data(), in.size()));
  }
  lc_cipher_job job{};
  job.struct_size = sizeof job;
  job.cipher = cases[0].cipher.mode;
  job.direction = direction;
  job.key_bytes = cases[0].cipher.key_bytes;
  job.device = LC_ANY_DEVICE;
  job.messages = messages.data();
  job.message_count = messages.size();
  job.message_size = sizeof(lc_message);
  run(job);
  for (size_t n = 0; n < cases.size(); n++)
    EXPECT_EQ(direction == LC_ENCRYPT ? cases[n].ciphertext : cases[n].plaintext, outputs[n])
        << cases[n].name << (direction == LC_ENCRYPT ? ", encryption" : ", decryption");
}

void Vectors::check_file(const std::string &file_name, size_t cases) {
  VectorFile file = read_vectors(file_name);
  ASSERT_EQ(cases, file.cases.size()) << file_name << " is not whole";
  for (lc_cipher mode : plain_modes())
    for (uint32_t key_bytes : key_sizes(mode)) {
      std::vector<VectorCase> same;
      for (const VectorCase &vector : file.cases)
        if (vector.cipher.mode == mode && vector.cipher.key_bytes == key_bytes)
          same.push_back(vector);
      if (same.empty()) continue;
      for (lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
        check_together(same, direction);
        check_together({same[0]}, direction);
      }
    }
}

lc_status Vectors::run_seal(const VectorSeal &seal, lc_direction direction, Bytes *text,
                            Bytes *tag) {
  lc_message message =
      plain_message(seal.key.data(), seal.iv.data(), text->data(), text->data(), text->size());
  message.aad = seal.aad.data();
  message.aad_length = seal.aad.size();
  message.tag = tag->data();
  lc_cipher_job job{};
  job.struct_size = sizeof job;
  job.cipher = seal.cipher.mode;
  job.direction = direction;
  job.key_bytes = seal.cipher.key_bytes;
  job.device = LC_ANY_DEVICE;
  job.messages = &message;
  job.message_count = 1;
  job.message_size = sizeof message;
  job.iv_bytes = static_cast<uint32_t>(seal.iv.size());
  job.tag_bytes = static_cast<uint32_t>(seal.tag.size());
  expect_done(1, text->size());
  return lc_run(context(), &job, nullptr);
}

void Vectors::check_seals(const std::string &file_name, size_t seals) {
  const VectorFile file = read_vectors(file_name);
  ASSERT_EQ(seals, file.seals.size()) << file_name << " is not whole";
  for (const VectorSeal &seal : file.seals) {
    if (!offers(seal.cipher.mode)) continue;
    SCOPED_TRACE(seal.name);
    Bytes text = seal.plaintext, tag(seal.tag.size());
    LANECRYPT_ASSERT_OK(run_seal(seal, LC_ENCRYPT, &text, &tag));
    EXPECT_EQ(seal.ciphertext, text);
    EXPECT_EQ(seal.tag, tag);
    text = seal.ciphertext;
    LANECRYPT_ASSERT_OK(run_seal(seal, LC_DECRYPT, &text, &tag));
    EXPECT_EQ(seal.plaintext, text);
    text = seal.ciphertext;
    tag.back() ^= 0x80;
    EXPECT_EQ(LC_ERROR_TAG, run_seal(seal, LC_DECRYPT, &text, &tag));
    EXPECT_EQ(Bytes(text.size()), text);
  }
}

TEST_P(Vectors, Fips197) { check_file("fips197.txt", 4); }
TEST_P(Vectors, Sp800_38a) { check_file("sp800_38a.txt", 9); }
TEST_P(Vectors, Sp800_38aFeedback) { check_file("sp800_38a_feedback.txt", 12); }
TEST_P(Vectors, CiphertextStealing) { check_file("cts.txt", 18); }
TEST_P(Vectors, Ieee1619) { check_file("ieee1619.txt", 7); }
TEST_P(Vectors, Sm4) { check_file("sm4.txt", 11); }
TEST_P(Vectors, Sm4Xts) { check_file("sm4_xts.txt", 4); }
TEST_P(Vectors, Rfc3713) { check_file("rfc3713.txt", 3); }
TEST_P(Vectors, Rfc5794) { check_file("rfc5794.txt", 3); }
TEST_P(Vectors, Rfc8998) { check_seals("rfc8998.txt", 2); }
TEST_P(Vectors, GcmAuthors) { check_seals("gcm_authors.txt", 18); }
TEST_P(Vectors, Sp800_38c) { check_seals("sp800_38c.txt", 3); }
TEST_P(Vectors, Rfc8439) {
  check_file("rfc8439.txt", 4);
  check_seals("rfc8439.txt", 2);
}
TEST_P(Vectors, AesavsEcb) { check_file("aesavs_ecb.txt", 1039); }
TEST_P(Vectors, AesavsCbc) { check_file("aesavs_cbc.txt", 1039); }

// The kernels' arithmetic in the field of Poly1305, over whole messages.
TEST(Poly1305Vectors, Rfc8439) {
  const VectorFile file = read_vectors("rfc8439_poly1305.txt");
  ASSERT_EQ(8u, file.macs.size());
  for (const VectorMac &mac : file.macs) {
    Block key[2];
    std::memcpy(key, mac.key.data(), sizeof key);
    for (int n = 0; n < 4; n++) key[0].w[n] &= n == 0 ? 0x0fffffffu : 0x0ffffffcu;
    Poly r = poly_of_block(key[0]), hash = poly_zero();
    r.w[4] &= 0xffffffu;  // poly_of_block() adds 2^128, as for a message block; r has no such bit
    for (size_t at = 0; at < mac.message.size(); at += 16) {
      const size_t bytes = std::min<size_t>(16, mac.message.size() - at);
      Block block = {};
      std::memcpy(&block, mac.message.data() + at, bytes);
      Poly text = poly_of_block(block);
      if (bytes < 16) {
        // In a short block the 1 bit comes after the last byte.
        text.w[4] &= 0xffffffu;
        text.w[8 * bytes / 26] += 1u << (8 * bytes % 26);
      }
      hash = poly_multiply(poly_add(hash, text), r);
    }
    const Block tag = poly_finish(hash, key[1]);
    Bytes made(16);
    std::memcpy(made.data(), &tag, 16);
    EXPECT_EQ(mac.tag, made) << mac.name;
  }
}

INSTANTIATE_TEST_SUITE_P(, Vectors, testing::ValuesIn(devices_in_every_form()), device_case_name);

}  // namespace
}  // namespace lanecrypt::test
