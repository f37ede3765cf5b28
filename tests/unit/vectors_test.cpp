// The known answers of the standards, on every device and in every form of
// the kernels.
//
// SPDX-License-Identifier: Apache-2.0
#include "devices.h"
#include "vector_file.h"

namespace lanecrypt::test {
namespace {

class Vectors : public DeviceTest {
 protected:
  // Both directions of every case. All cases of a cipher go in one job, so
  // that different keys meet in a launch; then the first of each runs alone.
  void check_file(const std::string &file_name, size_t cases);
  void check_together(const std::vector<VectorCase> &cases, lc_direction direction);
};

void Vectors::check_together(const std::vector<VectorCase> &cases, lc_direction direction) {
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
  for (lc_cipher mode : offered_modes())
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

TEST_P(Vectors, Fips197) { check_file("fips197.txt", 4); }
TEST_P(Vectors, Sp800_38a) { check_file("sp800_38a.txt", 9); }
TEST_P(Vectors, Sp800_38aFeedback) { check_file("sp800_38a_feedback.txt", 12); }
TEST_P(Vectors, CiphertextStealing) { check_file("cts.txt", 18); }
TEST_P(Vectors, Ieee1619) { check_file("ieee1619.txt", 7); }
TEST_P(Vectors, AesavsEcb) { check_file("aesavs_ecb.txt", 1039); }
TEST_P(Vectors, AesavsCbc) { check_file("aesavs_cbc.txt", 1039); }

INSTANTIATE_TEST_SUITE_P(, Vectors, testing::ValuesIn(devices_in_every_form()), device_case_name);

}  // namespace
}  // namespace lanecrypt::test
