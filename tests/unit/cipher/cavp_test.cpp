// NIST's CAVP files on every device, in every form of the kernels, and in both directions: AESAVS
// for every mode of SP 800-38A that is offered, XTSVS, GCMVS and CCMVS. The CPU does the modes that
// no device has.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "job/cipher/cipher_info.h"
#include "unit/support/cavp_file.h"
#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

struct Question {
  Bytes key, iv, in, out;
};

struct AeadQuestion {
  Bytes key, iv, aad, plain, cipher, tag;
  bool fails = false;  // whether the file's tag is wrong
};
// The questions by job: all keys of a job have one size, and so have its IVs and tags.
using AeadGroups = std::map<std::array<size_t, 3>, std::vector<AeadQuestion>>;

void add(AeadGroups &groups, AeadQuestion question) {
  const std::array<size_t, 3> sizes = {question.key.size(), question.iv.size(),
                                       question.tag.size()};
  groups[sizes].push_back(std::move(question));
}

// Divides questions into parts in which no key has one nonce twice, because no job may encrypt
// that. The n-th question of a key and nonce is in part n, in the order of the file.
std::vector<std::vector<AeadQuestion>> by_nonce(const std::vector<AeadQuestion> &questions) {
  std::map<std::pair<Bytes, Bytes>, size_t> seen;
  std::vector<std::vector<AeadQuestion>> parts;
  for (const AeadQuestion &one : questions) {
    const size_t part = seen[{one.key, one.iv}]++;
    if (part == parts.size()) parts.emplace_back();
    parts[part].push_back(one);
  }
  return parts;
}

lc_cipher_job job_of(lc_cipher cipher, lc_direction direction, const Bytes &key,
                     const std::vector<lc_message> &messages) {
  lc_cipher_job job{};
  job.struct_size = sizeof job;
  job.cipher = cipher;
  job.direction = direction;
  job.key_bytes = static_cast<uint32_t>(key.size());
  job.device = LC_ANY_DEVICE;
  job.messages = messages.data();
  job.message_count = messages.size();
  job.message_size = sizeof(lc_message);
  return job;
}

// Runs all questions in one job.
template <typename Run>
void ask(lc_cipher cipher, lc_direction direction, const std::vector<Question> &questions,
         Run run) {
  std::vector<Bytes> outputs;
  std::vector<lc_message> messages;
  for (const Question &question : questions) outputs.emplace_back(question.in.size(), 0xa5);
  for (size_t n = 0; n < questions.size(); n++)
    messages.push_back(plain_message(questions[n].key.data(), questions[n].iv.data(),
                                     questions[n].in.data(), outputs[n].data(),
                                     questions[n].in.size()));
  run(job_of(cipher, direction, questions[0].key, messages));
  for (size_t n = 0; n < questions.size(); n++)
    EXPECT_EQ(questions[n].out, outputs[n]) << "case " << n;
}

// Returns a text. CFB1's files are written in bits, and only texts of whole bytes are read.
Bytes text_of(const CavpCase &one, const std::string &name, bool in_bits) {
  if (!in_bits) return one.bytes(name);
  const std::string &bits = one.text(name);
  if (bits.size() % 8 != 0 || bits.find_first_not_of("01") != std::string::npos) return {};
  Bytes bytes;
  for (size_t at = 0; at + 8 <= bits.size(); at += 8)
    bytes.push_back(static_cast<uint8_t>(std::stoul(bits.substr(at, 8), nullptr, 2)));
  return bytes;
}

// Visits the questions of each file, one direction after the other.
template <typename Visit>
void for_each_file(lc_cipher cipher, const std::string &folder, const std::string &begin,
                   size_t least_cases, Visit visit) {
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
    visit(LC_ENCRYPT, questions[0]);
    visit(LC_DECRYPT, questions[1]);
  }
  EXPECT_GE(cases, least_cases) << folder << " is not whole";
}

class Cavp : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !cavp_is_here()) GTEST_SKIP() << kCavpIsMissing;
  }
  void check(lc_cipher cipher, lc_direction direction, const std::vector<Question> &questions) {
    if (!questions.empty() && offers(cipher))
      ask(cipher, direction, questions, [this](const lc_cipher_job &job) { run(job); });
  }
  void check_folder(lc_cipher cipher, const std::string &folder, const std::string &begin,
                    size_t least_cases);
  void check_aead(lc_cipher cipher, lc_direction direction,
                  const std::vector<AeadQuestion> &questions);
  void check_aead(lc_cipher cipher, lc_direction direction, const AeadGroups &groups) {
    for (const auto &[sizes, questions] : groups)
      for (const auto &part : by_nonce(questions)) check_aead(cipher, direction, part);
  }
};

void Cavp::check_folder(lc_cipher cipher, const std::string &folder, const std::string &begin,
                        size_t least_cases) {
  for_each_file(cipher, folder, begin, least_cases,
                [&](lc_direction direction, const std::vector<Question> &questions) {
                  check(cipher, direction, questions);
                });
}

TEST_P(Cavp, Ecb) { check_folder(LC_AES_ECB, "ECB", "ECB", 2000); }
TEST_P(Cavp, Cbc) { check_folder(LC_AES_CBC, "CBC", "CBC", 2000); }
TEST_P(Cavp, Cfb128) { check_folder(LC_AES_CFB128, "CFB", "CFB128", 2000); }
TEST_P(Cavp, Ofb) { check_folder(LC_AES_OFB, "OFB", "OFB", 2000); }

// XTSVS: data units of up to 4,096 bits, some of which are not whole bytes. The files give tweaks
// as 16 bytes, or as the number of the unit.
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

// Runs all questions in one job.
void Cavp::check_aead(lc_cipher cipher, lc_direction direction,
                      const std::vector<AeadQuestion> &questions) {
  const bool encrypt = direction == LC_ENCRYPT;
  std::vector<Bytes> outputs, tags;
  std::vector<lc_message> messages;
  std::vector<lc_status> statuses(questions.size(), LC_PENDING);
  for (const AeadQuestion &one : questions) {
    outputs.emplace_back(one.plain.size(), 0xa5);
    tags.push_back(encrypt ? Bytes(one.tag.size()) : one.tag);
  }
  uint64_t bytes = 0;
  bool some_fail = false;
  for (size_t n = 0; n < questions.size(); n++) {
    const AeadQuestion &one = questions[n];
    lc_message message =
        plain_message(one.key.data(), one.iv.data(), (encrypt ? one.plain : one.cipher).data(),
                      outputs[n].data(), one.plain.size());
    message.aad = one.aad.data();
    message.aad_length = one.aad.size();
    message.tag = tags[n].data();
    messages.push_back(message);
    bytes += one.plain.size();
    some_fail |= one.fails;
  }
  lc_cipher_job job = job_of(cipher, direction, questions[0].key, messages);
  job.iv_bytes = static_cast<uint32_t>(questions[0].iv.size());
  job.tag_bytes = static_cast<uint32_t>(questions[0].tag.size());
  job.message_status = statuses.data();
  ASSERT_EQ(some_fail ? LC_ERROR_TAG : LC_OK, lc_run(context(), &job, nullptr)) << lc_last_error();
  expect_done(1, bytes);
  for (size_t n = 0; n < questions.size(); n++) {
    const AeadQuestion &one = questions[n];
    EXPECT_EQ(one.fails ? LC_ERROR_TAG : LC_OK, statuses[n]) << "case " << n;
    const Bytes &right = encrypt ? one.cipher : one.plain;
    EXPECT_EQ(one.fails ? Bytes(right.size()) : right, outputs[n]) << "case " << n;
    EXPECT_EQ(one.tag, tags[n]) << "case " << n;
  }
}

// GCMVS: IVs, additional data, texts and tags of many lengths, all of whole bytes, and wrong tags.
TEST_P(Cavp, Gcm) {
  if (!offers(LC_AES_GCM)) GTEST_SKIP() << GetParam().id << " seals nothing";
  size_t cases = 0, refused = 0;
  Sample sample(7);
  for (const char *begin : {"gcmEncryptExtIV", "gcmDecrypt"})
    for (const std::string &file : cavp_files("ciphers/AES/GCM", begin)) {
      SCOPED_TRACE(file);
      AeadGroups groups;
      for (const CavpCase &one : read_cavp(file)) {
        if (one.number("IVlen") % 8 != 0 || one.number("PTlen") % 8 != 0 ||
            one.number("AADlen") % 8 != 0)
          continue;
        refused += one.has("FAIL");
        cases++;
        if (!sample.takes_next()) continue;
        AeadQuestion question{one.bytes("Key"), one.bytes("IV"), one.bytes("AAD"), {},
                              one.bytes("CT"),  one.bytes("Tag")};
        question.fails = one.has("FAIL");
        question.plain = question.fails ? Bytes(question.cipher.size()) : one.bytes("PT");
        add(groups, std::move(question));
      }
      check_aead(LC_AES_GCM, std::string(begin) == "gcmDecrypt" ? LC_DECRYPT : LC_ENCRYPT, groups);
    }
  EXPECT_GE(cases, 10000u) << "GCM is not whole";
  EXPECT_GE(refused, 1000u);
}

// CCMVS: a line that stands alone, or a key or nonce between cases, applies to all following cases.
// If a length is 0, the files write the bytes as one zero byte.
TEST_P(Cavp, Ccm) {
  if (!offers(LC_AES_CCM)) GTEST_SKIP() << GetParam().id << " seals nothing";
  size_t cases = 0, refused = 0;
  for (const char *begin : {"VADT", "VNT", "VPT", "VTT", "DVPT"})
    for (const std::string &file : cavp_files("ciphers/AES/CCM", begin)) {
      SCOPED_TRACE(file);
      AeadGroups groups;
      CavpCase now;
      for (const CavpCase &one : read_cavp(file)) {
        for (const auto &[name, value] : one.values) {
          // Splits a heading such as "[Alen = 0, Plen = 24]".
          std::string rest = name + " = " + value;
          for (size_t comma = 0; comma != std::string::npos;
               rest = comma == std::string::npos ? "" : rest.substr(comma + 2)) {
            comma = rest.find(", ");
            const std::string part = rest.substr(0, comma);
            const size_t equals = part.find(" = ");
            now.values[part.substr(0, equals)] = part.substr(equals + 3);
          }
        }
        if (!one.has("CT")) continue;
        const size_t plain_bytes = now.number("Plen");
        const Bytes sealed = now.bytes("CT");
        ASSERT_EQ(plain_bytes + now.number("Tlen"), sealed.size());
        AeadQuestion question{now.bytes("Key"), now.bytes("Nonce"), now.bytes("Adata"), {}, {}, {}};
        question.aad.resize(now.number("Alen"));
        question.cipher.assign(sealed.begin(), sealed.begin() + plain_bytes);
        question.tag.assign(sealed.begin() + plain_bytes, sealed.end());
        question.fails = one.has("Result") && one.text("Result").rfind("Fail", 0) == 0;
        if (!question.fails) question.plain = now.bytes("Payload");
        question.plain.resize(plain_bytes);
        refused += question.fails;
        cases++;
        add(groups, std::move(question));
      }
      if (std::string(begin) != "DVPT") check_aead(LC_AES_CCM, LC_ENCRYPT, groups);
      check_aead(LC_AES_CCM, LC_DECRYPT, groups);
    }
  EXPECT_EQ(2880u, cases) << "CCM is not whole";
  EXPECT_GE(refused, 300u);
}

TEST(CavpOnCpu, Cfb8AndCfb1) {
  if (!cavp_is_here()) GTEST_SKIP() << kCavpIsMissing;
  const Context context("none", LC_FALLBACK_CPU);
  const auto check = [&](lc_cipher cipher, const char *begin, size_t least_cases) {
    for_each_file(cipher, "CFB", begin, least_cases,
                  [&](lc_direction direction, const std::vector<Question> &questions) {
                    if (questions.empty()) return;
                    ask(cipher, direction, questions, [&](const lc_cipher_job &job) {
                      LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, nullptr));
                    });
                  });
  };
  check(LC_AES_CFB8, "CFB8", 2000);
  // Nearly all other cases of CFB1 are shorter than a byte.
  check(LC_AES_CFB1, "CFB1MMT", 6);
}

INSTANTIATE_TEST_SUITE_P(, Cavp, testing::ValuesIn(devices_in_every_form()), device_case_name);

}  // namespace
}  // namespace lanecrypt::test
