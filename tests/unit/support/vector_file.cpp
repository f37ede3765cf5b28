// SPDX-License-Identifier: Apache-2.0
#include "vector_file.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "job/cipher/cipher_info.h"

namespace lanecrypt::test {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  throw std::runtime_error(std::string("not a lower-case hexadecimal digit: ") + c);
}

// "-" stands for an empty value.
Bytes from_hex(const std::string &text) {
  if (text == "-") return {};
  if (text.size() % 2) throw std::runtime_error("an odd number of hexadecimal digits");
  Bytes bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(hex_digit(text[i]) * 16 + hex_digit(text[i + 1])));
  return bytes;
}

std::string lower(std::string text) {
  for (char &c : text) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
  return text;
}

Cipher cipher_named(const std::string &name) {
  for (const CipherInfo &info : kCipherInfos)
    for (uint32_t key_bytes : key_sizes(info.cipher))
      if (name == lower(info.family(key_bytes)) + info.name) return {info.cipher, key_bytes};
  throw std::runtime_error("unknown cipher: " + name);
}

lc_direction direction_named(const std::string &name) {
  if (name == "encrypt") return LC_ENCRYPT;
  if (name == "decrypt") return LC_DECRYPT;
  throw std::runtime_error("unknown direction: " + name);
}

class Reader {
 public:
  void statement(const std::vector<std::string> &words) {
    const std::string &verb = words[0];
    if (verb == "cipher" && words.size() == 2) {
      name_ = words[1];
      cipher_ = cipher_named(name_);
      key_.clear();
      iv_.clear();
    } else if (verb == "key" && words.size() == 2) {
      key_ = from_hex(words[1]);
    } else if (verb == "iv" && words.size() == 2) {
      iv_ = from_hex(words[1]);
    } else if (verb == "case" && words.size() == 4) {
      check_key_and_iv();
      VectorCase added{name_ + " " + words[1], cipher_,           key_, iv_,
                       from_hex(words[2]),     from_hex(words[3])};
      if (added.plaintext.size() != added.ciphertext.size())
        throw std::runtime_error("the two texts differ in length");
      file.cases.push_back(added);
    } else if (verb == "seal" && words.size() == 6) {
      file.seals.push_back({name_ + " " + words[1], cipher_, key_, iv_, from_hex(words[2]),
                            from_hex(words[3]), from_hex(words[4]), from_hex(words[5])});
    } else if (verb == "mac" && words.size() == 5) {
      file.macs.push_back({words[1], from_hex(words[2]), from_hex(words[3]), from_hex(words[4])});
    } else if (verb == "chain" && words.size() == 3) {
      check_key_and_iv();
      file.chains.push_back({name_ + " " + words[1],
                             cipher_,
                             direction_named(words[1]),
                             key_,
                             iv_,
                             from_hex(words[2]),
                             {}});
    } else if (verb == "answer" && words.size() == 2 && !file.chains.empty()) {
      file.chains.back().answers.push_back(from_hex(words[1]));
    } else {
      throw std::runtime_error("not a statement");
    }
  }

  VectorFile file;

 private:
  void check_key_and_iv() const {
    if (key_.size() != cipher_.key_bytes) throw std::runtime_error("no key of the cipher's size");
    if (iv_.size() != cipher_info(cipher_.mode).iv_bytes)
      throw std::runtime_error("no IV of the cipher's size");
  }

  std::string name_;
  Cipher cipher_{};
  Bytes key_, iv_;
};

}  // namespace

VectorFile read_vectors(const std::string &file_name) {
  std::ifstream stream(std::string(LANECRYPT_VECTORS) + "/" + file_name);
  if (!stream) throw std::runtime_error(file_name + ": cannot be read");
  Reader reader;
  std::string line;
  for (int number = 1; std::getline(stream, line); number++) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream split(line);
    std::vector<std::string> words;
    for (std::string word; split >> word;) words.push_back(word);
    try {
      if (words.empty()) throw std::runtime_error("not a statement");
      reader.statement(words);
    } catch (const std::runtime_error &error) {
      throw std::runtime_error(file_name + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  return reader.file;
}

}  // namespace lanecrypt::test
