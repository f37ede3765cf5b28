// SPDX-License-Identifier: Apache-2.0
#include "verify/ciphers_known_answers.h"

#include <cstring>
#include <string_view>

#include "cpu/cpu_aead.h"
#include "cpu/cpu_cipher.h"
#include "verify/hex.h"

namespace lanecrypt::verify {
namespace {

// SP 800-38A, appendix F: one plaintext, three keys, three modes; and the same for SM4, with the
// first key.
constexpr std::string_view kPlaintext =
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
constexpr std::string_view kIv = "000102030405060708090a0b0c0d0e0f";
constexpr std::string_view kCounter = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

struct Example {
  lc_cipher first;  // the first mode of its block cipher
  std::string_view key, ecb, cbc, ctr;
};

constexpr Example kExamples[] = {
    {LC_AES_ECB, "2b7e151628aed2a6abf7158809cf4f3c",
     "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"
     "43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4",
     "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
     "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
     "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
     "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"},
    {LC_AES_ECB, "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
     "bd334f1d6e45f25ff712a214571fa5cc974104846d0ad3ad7734ecb3ecee4eef"
     "ef7afd2270e2e60adce0ba2face6444e9a4b41ba738d6c72fb16691603c18e0e",
     "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
     "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd",
     "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94"
     "1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050"},
    {LC_AES_ECB, "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
     "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870"
     "b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7",
     "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
     "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
     "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
     "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"},
    {LC_SM4_ECB, "2b7e151628aed2a6abf7158809cf4f3c",
     "a51411ff04a711443891fce7ab842a29d5b50f46a9a730a0f590ffa776d99855"
     "c9a86a4d71447f4e873ada4f388af9b92b25557b50514d155939e6ec940ad90e",
     "ac529af989a62fce9cddc5ffb84125cab168dd69db3c0eea1ab16de6aea43c59"
     "2c15567bff8f707486c202c7be59101f74a629b350cd7e11be99998af5206d6c",
     "14ae4a72b97a93ce1216ccd998e371c160f7ef8b6344bd6da1992505e5fc219b"
     "0bf057f86c5d75103c0f46519c7fb2e7292805035adb9a90ecef145359d7cf0e"},
};

void add_example(std::vector<CipherKnownAnswer> &answers, lc_cipher cipher, std::string_view key,
                 std::string_view iv, std::string_view ciphertext) {
  CipherKnownAnswer answer;
  answer.kind = {cipher, LC_ENCRYPT, static_cast<uint32_t>(key.size() / 2)};
  answer.key = from_hex(key);
  answer.iv = {};
  answer.data_unit_bytes = 0;
  if (!iv.empty()) memcpy(answer.iv.data(), from_hex(iv).data(), answer.iv.size());
  answer.input = from_hex(kPlaintext);
  answer.expected = from_hex(ciphertext);
  answers.push_back(answer);
  if (cipher_info(cipher).is_own_inverse) return;
  answer.kind.direction = LC_DECRYPT;
  std::swap(answer.input, answer.expected);
  answers.push_back(answer);
}

struct AeadExample {
  lc_cipher cipher;
  std::string_view key, nonce, aad, plaintext, ciphertext, tag;
};

constexpr AeadExample kAeadExamples[] = {
    {LC_AES_GCM, "feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
     "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
     "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
     "5bc94fbc3221a5db94fae95ae7121a47"},
    {LC_AES_CCM, "404142434445464748494a4b4c4d4e4f", "10111213141516", "0001020304050607",
     "20212223", "7162015b", "4dac255d"},
    {LC_AES_CCM, "404142434445464748494a4b4c4d4e4f", "101112131415161718191a1b",
     "000102030405060708090a0b0c0d0e0f10111213", "202122232425262728292a2b2c2d2e2f3031323334353637",
     "e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5", "484392fbc1b09951"},
    // RFC 8998, A.1 and A.2.
    {LC_SM4_GCM, "0123456789abcdeffedcba9876543210", "00001234567800000000abcd",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccdddddddddddddddd"
     "eeeeeeeeeeeeeeeeffffffffffffffffeeeeeeeeeeeeeeeeaaaaaaaaaaaaaaaa",
     "17f399f08c67d5ee19d0dc9969c4bb7d5fd46fd3756489069157b282bb200735"
     "d82710ca5c22f0ccfa7cbf93d496ac15a56834cbcf98c397b4024a2691233b8d",
     "83de3541e4c2b58177e065a9bf7b62ec"},
    {LC_SM4_CCM, "0123456789abcdeffedcba9876543210", "00001234567800000000abcd",
     "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccdddddddddddddddd"
     "eeeeeeeeeeeeeeeeffffffffffffffffeeeeeeeeeeeeeeeeaaaaaaaaaaaaaaaa",
     "48af93501fa62adbcd414cce6034d895dda1bf8f132f042098661572e7483094"
     "fd12e518ce062c98acee28d95df4416bed31a2f04476c18bb40c84a74b97dc5b",
     "16842d4fa186f56ab33256971fa110f4"},
    {LC_CHACHA20_POLY1305, "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
     "070000004041424344454647", "50515253c0c1c2c3c4c5c6c7",
     "4c616469657320616e642047656e746c656d656e206f662074686520636c6173"
     "73206f66202739393a204966204920636f756c64206f6666657220796f75206f"
     "6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73"
     "637265656e20776f756c642062652069742e",
     "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6"
     "3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36"
     "92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
     "3ff4def08e4b7a9de576d26586cec64b6116",
     "1ae10b594f09e26a7e902ecbd0600691"},
};

void add_example(std::vector<CipherKnownAnswer> &answers, const AeadExample &example) {
  CipherKnownAnswer answer = {};
  answer.kind = {example.cipher, LC_ENCRYPT, static_cast<uint32_t>(example.key.size() / 2)};
  answer.key = from_hex(example.key);
  answer.nonce = from_hex(example.nonce);
  answer.aad = from_hex(example.aad);
  answer.input = from_hex(example.plaintext);
  answer.expected = from_hex(example.ciphertext);
  answer.tag = from_hex(example.tag);
  answers.push_back(answer);
  answer.kind.direction = LC_DECRYPT;
  std::swap(answer.input, answer.expected);
  answers.push_back(answer);
}

// Adds a long message. Every tile of it has other bytes, and its counter passes 2^64.
Status add_long_message(std::vector<CipherKnownAnswer> &answers, lc_cipher cipher,
                        lc_direction direction, bool is_emulated) {
  CipherKnownAnswer answer;
  const CipherInfo &info = cipher_info(cipher);
  // These modes need a long message: a shorter one would not be hashed by matrices or encrypted in
  // windows of counters.
  const bool must_be_long = info.is_aead || info.mode == Mode::kCtr;
  const size_t bytes = is_emulated && !must_be_long ? 1 << 17 : 1 << 20;
  answer.kind = {cipher, direction, (info.key_sizes & kKey128 ? 16u : 32u) * info.keys};
  // As many different bytes as the longest key has.
  answer.key = from_hex(kExamples[2].key);
  answer.key.insert(answer.key.end(), answer.key.rbegin(), answer.key.rend());
  answer.iv.fill(0xff);
  answer.iv[0] = 0x7f;
  // Shorter than a tile, so that a tile crosses data units.
  answer.data_unit_bytes = info.continuation == Continuation::kDataUnits ? 528 : 0;
  // A chain is processed by one thread, so it is short.
  answer.input.resize(answer.kind.is_chain() ? 1024 : info.is_aead ? bytes + 8197 : bytes);
  uint32_t state = 0x2545f491;
  for (uint8_t &byte : answer.input) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<uint8_t>(state >> 24);
  }
  answer.expected.resize(answer.input.size());
  if (info.is_aead) {
    // This answer encrypts the message; the answer for decryption uses the result.
    answer.nonce.assign(info.iv_bytes, 0x7f);
    answer.aad.assign(answer.input.begin(), answer.input.begin() + 20);
    answer.tag.resize(kBlockBytes);
    const cpu::AeadInput input = {answer.key.data(), answer.nonce.data(), info.iv_bytes,
                                  answer.aad.data(), answer.aad.size()};
    const CipherKind seal = {cipher, LC_ENCRYPT, answer.kind.key_bytes};
    LC_TRY(cpu::run_aead(seal, input, answer.input.data(), answer.expected.data(),
                         answer.input.size(), answer.tag.data(), kBlockBytes));
    if (direction == LC_DECRYPT) std::swap(answer.input, answer.expected);
    answers.push_back(std::move(answer));
    return Status();
  }
  LC_TRY(cpu::run_cipher(answer.kind, {answer.key.data(), answer.iv, answer.data_unit_bytes},
                         answer.input.data(), answer.expected.data(), answer.input.size()));
  answers.push_back(std::move(answer));
  return Status();
}

}  // namespace

Result<std::vector<CipherKnownAnswer>> ciphers_known_answers(const BlockCipher *block,
                                                             bool is_emulated) {
  std::vector<CipherKnownAnswer> answers;
  for (const Example &example : kExamples) {
    if (cipher_info(example.first).block != block) continue;
    const auto add = [&](Mode mode, std::string_view iv, std::string_view ciphertext) {
      add_example(answers, another_mode(example.first, mode), example.key, iv, ciphertext);
    };
    add(Mode::kEcb, "", example.ecb);
    add(Mode::kCbc, kIv, example.cbc);
    add(Mode::kCtr, kCounter, example.ctr);
  }
  for (const AeadExample &example : kAeadExamples)
    if (cipher_info(example.cipher).block == block) add_example(answers, example);
  for (const CipherInfo &info : kCipherInfos) {
    if (info.block != block || info.is_cpu_only) continue;
    LC_TRY(add_long_message(answers, info.cipher, LC_ENCRYPT, is_emulated));
    if (!info.is_own_inverse)
      LC_TRY(add_long_message(answers, info.cipher, LC_DECRYPT, is_emulated));
  }
  return answers;
}

}  // namespace lanecrypt::verify
