// NIST's own files (CAVP): AESAVS for every mode of SP 800-38A that is offered,
// and XTSVS, both directions, on every device and in every form of the kernels.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cavp_file.h"
#include "devices.h"
#include "job/mode.h"

namespace lanecrypt::test {
namespace {

struct Question {
  Bytes key, iv, in, out;
};

class Cavp : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !cavp_is_here()) GTEST_SKIP() << kCavpIsMissing;
  }
  // All of them in one job.
  void check(lc_cipher cipher, lc_direction direction, const std::vector<Question> &questions);
  void check_folder(lc_cipher cipher, const std::string &folder, const std::string &begin,
                    size_t least_cases);
};

void Cavp::check(lc_cipher cipher, lc_direction direction, const std::vector<Question> &questions) {
  if (questions.empty()) return;
  std::vector<Bytes> outputs;
  std::vector<lc_message> messages;
  for (const Question &question : questions) outputs.emplace_back(question.in.size(), 0xa5);
  for (size_t n = 0; n < questions.size(); n++)
    messages.push_back(plain_message(questions[n].key.data(), questions[n].iv.data(),
                                     questions[n].in.data(), outputs[n].data(),
                                     questions[n].in.size()));
  lc_cipher_job job{};
  job.struct_size = sizeof job;
  job.cipher = cipher;
  job.direction = direction;
  job.key_bytes = static_cast<uint32_t>(questions[0].key.size());
  job.device = LC_ANY_DEVICE;
  job.messages = messages.data();
  job.message_count = messages.size();
  job.message_size = sizeof(lc_message);
  run(job);
  for (size_t n = 0; n < questions.size(); n++)
    EXPECT_EQ(questions[n].out, outputs[n]) << "case " << n;
}

// CFB1 is written in bits; those that are whole bytes, as hexadecimal is.
Bytes text_of(const CavpCase &one, const std::string &name, bool in_bits) {
  if (!in_bits) return one.bytes(name);
  const std::string &bits = one.text(name);
  if (bits.size() % 8 != 0 || bits.find_first_not_of("01") != std::string::npos) return {};
  Bytes bytes;
  for (size_t at = 0; at + 8 <= bits.size(); at += 8)
    bytes.push_back(static_cast<uint8_t>(std::stoul(bits.substr(at, 8), nullptr, 2)));
  return bytes;
}

void Cavp::check_folder(lc_cipher cipher, const std::string &folder, const std::string &begin,
                        size_t least_cases) {
  size_t cases = 0;
  for (const std::string &file : cavp_files("ciphers/AES/" + folder, begin)) {
    SCOPED_TRACE(file);
    std::vector<Question> questions[2];
    for (const CavpCase &one : read_cavp(file)) {
      const bool encrypt = one.has("ENCRYPT");
      const bool in_bits = cipher == LC_AES_CFB1;
      Question question{one.bytes("KEY"), one.has("IV") ? one.bytes("IV") : Bytes(),
                        text_of(one, encrypt ? "PLAINTEXT" : "CIPHERTEXT", in_bits),
                        text_of(one, encrypt ? "CIPHERTEXT" : "PLAINTEXT", in_bits)};
      if (question.in.empty()) continue;
      questions[encrypt ? 0 : 1].push_back(std::move(question));
      cases++;
    }
    check(cipher, LC_ENCRYPT, questions[0]);
    check(cipher, LC_DECRYPT, questions[1]);
  }
  EXPECT_GE(cases, least_cases) << folder << " is not whole";
}

TEST_P(Cavp, Ecb) { check_folder(LC_AES_ECB, "ECB", "ECB", 2000); }
TEST_P(Cavp, Cbc) { check_folder(LC_AES_CBC, "CBC", "CBC", 2000); }
TEST_P(Cavp, Cfb128) { check_folder(LC_AES_CFB128, "CFB", "CFB128", 2000); }
TEST_P(Cavp, Cfb8) { check_folder(LC_AES_CFB8, "CFB", "CFB8", 2000); }
// Nearly all of its cases are less than a byte.
TEST_P(Cavp, Cfb1) { check_folder(LC_AES_CFB1, "CFB", "CFB1MMT", 6); }
TEST_P(Cavp, Ofb) { check_folder(LC_AES_OFB, "OFB", "OFB", 2000); }

// XTSVS: data units of up to 4,096 bits, some of them no whole bytes; their
// tweaks as 16 bytes, or as the number of the unit.
TEST_P(Cavp, Xts) {
  for (const char *folder : {"tweak-128hexstr", "tweak-dataunitseqno"}) {
    size_t cases = 0;
    for (const std::string &file : cavp_files(std::string("ciphers/AES/XTS/") + folder, "XTS")) {
      SCOPED_TRACE(file);
      std::vector<Question> questions[2];
      for (const CavpCase &one : read_cavp(file)) {
        const bool encrypt = one.has("ENCRYPT");
        if (one.number("DataUnitLen") % 8 != 0) continue;
        Question question{one.bytes("Key"), Bytes(16), one.bytes(encrypt ? "PT" : "CT"),
                          one.bytes(encrypt ? "CT" : "PT")};
        if (one.has("i"))
          question.iv = one.bytes("i");
        else
          for (uint64_t n = 0, number = one.number("DataUnitSeqNumber"); n < 8; n++)
            question.iv[n] = static_cast<uint8_t>(number >> (8 * n));
        questions[encrypt ? 0 : 1].push_back(std::move(question));
        cases++;
      }
      check(LC_AES_XTS, LC_ENCRYPT, questions[0]);
      check(LC_AES_XTS, LC_DECRYPT, questions[1]);
    }
    EXPECT_GE(cases, 1000u) << folder << " is not whole";
  }
}

// GCMVS: IVs, additional data, texts and tags of many lengths, and tags that are
// wrong, of whole bytes.
TEST_P(Cavp, Gcm) {
  size_t cases = 0, refused = 0;
  for (const char *begin : {"gcmEncryptExtIV", "gcmDecrypt"})
    for (const std::string &file : cavp_files("ciphers/AES/GCM", begin)) {
      SCOPED_TRACE(file);
      const bool encrypt = std::string(begin) == "gcmEncryptExtIV";
      // A job has IVs of one length, and tags of one.
      std::map<std::pair<uint64_t, uint64_t>, std::vector<CavpCase>> groups;
      for (const CavpCase &one : read_cavp(file)) {
        const uint64_t iv = one.number("IVlen"), tag = one.number("Taglen");
        if (iv % 8 != 0 || one.number("PTlen") % 8 != 0 || one.number("AADlen") % 8 != 0) continue;
        groups[{iv / 8, tag / 8}].push_back(one);
      }
      for (const auto &[sizes, group] : groups) {
        std::vector<Bytes> keys, ivs, aads, inputs, outputs, expected, tags;
        std::vector<bool> wrong;
        for (const CavpCase &one : group) {
          const bool fails = one.has("FAIL");
          keys.push_back(one.bytes("Key"));
          ivs.push_back(one.bytes("IV"));
          aads.push_back(one.bytes("AAD"));
          inputs.push_back(one.bytes(encrypt ? "PT" : "CT"));
          expected.push_back(fails ? Bytes(inputs.back().size())
                                   : one.bytes(encrypt ? "CT" : "PT"));
          outputs.emplace_back(inputs.back().size(), 0xa5);
          tags.push_back(encrypt ? Bytes(sizes.second) : one.bytes("Tag"));
          wrong.push_back(fails);
          refused += fails;
          cases++;
        }
        std::vector<lc_message> messages(group.size());
        std::vector<lc_status> statuses(group.size(), LC_PENDING);
        uint64_t bytes = 0;
        for (size_t n = 0; n < group.size(); n++) {
          messages[n] = plain_message(keys[n].data(), ivs[n].data(), inputs[n].data(),
                                      outputs[n].data(), inputs[n].size());
          messages[n].aad = aads[n].data();
          messages[n].aad_length = aads[n].size();
          messages[n].tag = tags[n].data();
          bytes += inputs[n].size();
        }
        lc_cipher_job job{};
        job.struct_size = sizeof job;
        job.cipher = LC_AES_GCM;
        job.direction = encrypt ? LC_ENCRYPT : LC_DECRYPT;
        job.key_bytes = static_cast<uint32_t>(keys[0].size());
        job.device = LC_ANY_DEVICE;
        job.messages = messages.data();
        job.message_count = messages.size();
        job.message_size = sizeof(lc_message);
        job.iv_bytes = static_cast<uint32_t>(sizes.first);
        job.tag_bytes = static_cast<uint32_t>(sizes.second);
        job.message_status = statuses.data();
        const bool some_wrong = std::find(wrong.begin(), wrong.end(), true) != wrong.end();
        ASSERT_EQ(some_wrong ? LC_ERROR_TAG : LC_OK, lc_run(context(), &job, nullptr))
            << lc_last_error();
        expect_done(1, bytes);
        for (size_t n = 0; n < group.size(); n++) {
          EXPECT_EQ(wrong[n] ? LC_ERROR_TAG : LC_OK, statuses[n]) << "case " << n;
          EXPECT_EQ(expected[n], outputs[n]) << "case " << n;
          if (encrypt) {
            EXPECT_EQ(group[n].bytes("Tag"), tags[n]) << "case " << n;
          }
        }
      }
    }
  EXPECT_GE(cases, 10000u) << "GCM is not whole";
  EXPECT_GE(refused, 1000u);
}

INSTANTIATE_TEST_SUITE_P(, Cavp, testing::ValuesIn(devices_in_every_form()), device_case_name);

}  // namespace
}  // namespace lanecrypt::test
