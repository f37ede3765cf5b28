// SPDX-License-Identifier: Apache-2.0
#include "rsa_encoding.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace lanecrypt::python {
namespace {

using secure::KeyMemory;

constexpr uint8_t kInteger = 0x02, kOctets = 0x04, kSequence = 0x30;
// AlgorithmIdentifier of rsaEncryption (RFC 8017, A.1).
constexpr uint8_t kRsaEncryption[] = {0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86,
                                      0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00};

// Reads DER elements in sequence.
class Reader {
 public:
  explicit Reader(Bytes bytes) : left_(bytes) {}
  bool is_at_end() const { return left_.empty(); }

  // Returns the contents of the next element, which must have the given tag.
  bool take(uint8_t tag, Bytes *contents) {
    if (left_.size() < 2 || left_[0] != tag) return false;
    size_t length = left_[1], at = 2;
    if (length >= 0x80) {
      const size_t bytes = length & 0x7F;
      if (bytes == 0 || bytes > 4 || left_.size() < 2 + bytes) return false;
      length = 0;
      for (; at < 2 + bytes; ++at) length = length << 8 | left_[at];
      if (length < 0x80) return false;
    }
    if (length > left_.size() - at) return false;
    *contents = left_.subspan(at, length);
    left_ = left_.subspan(at + length);
    return true;
  }
  // Reads a non-negative INTEGER.
  bool take_number(lc_number *number) {
    Bytes bytes;
    if (!take(kInteger, &bytes) || bytes.empty() || (bytes[0] & 0x80) != 0) return false;
    *number = {bytes.data(), bytes.size()};
    return true;
  }
  bool take_version() {
    Bytes bytes;
    return take(kInteger, &bytes) && bytes.size() == 1 && bytes[0] == 0;
  }

 private:
  Bytes left_;
};

bool read_pkcs1(Bytes der, lc_rsa_parts *parts) {
  Reader whole(der);
  Bytes inside;
  if (!whole.take(kSequence, &inside) || !whole.is_at_end()) return false;
  Reader reader(inside);
  if (!reader.take_version()) return false;
  for (lc_number *number : {&parts->n, &parts->e, &parts->d, &parts->p, &parts->q, &parts->dp,
                            &parts->dq, &parts->qinv})
    if (!reader.take_number(number)) return false;
  return reader.is_at_end();
}

// Finds the PKCS#1 key in a PKCS#8 key.
bool read_pkcs8(Bytes der, Bytes *pkcs1) {
  Reader whole(der);
  Bytes inside, algorithm;
  if (!whole.take(kSequence, &inside) || !whole.is_at_end()) return false;
  Reader reader(inside);
  if (!reader.take_version() || !reader.take(kSequence, &algorithm)) return false;
  const Bytes expected(kRsaEncryption + 2, sizeof kRsaEncryption - 2);
  return std::equal(algorithm.begin(), algorithm.end(), expected.begin(), expected.end()) &&
         reader.take(kOctets, pkcs1);
}

size_t length_bytes(size_t length) { return length < 0x80 ? 1 : length < 0x100 ? 2 : 3; }
size_t element_bytes(size_t length) { return 1 + length_bytes(length) + length; }

// A DER INTEGER: no leading zeros except one before a byte whose top bit is set.
struct Number {
  Bytes bytes;
  bool has_zero = false;

  explicit Number(const lc_number &number)
      : bytes(static_cast<const uint8_t *>(number.bytes), number.length) {
    while (bytes.size() > 1 && bytes[0] == 0) bytes = bytes.subspan(1);
    has_zero = bytes.empty() || (bytes[0] & 0x80) != 0;
  }
  size_t size() const { return bytes.size() + (has_zero ? 1 : 0); }
};

// Writes DER elements in sequence. The caller provides enough memory.
class Writer {
 public:
  explicit Writer(uint8_t *at) : at_(at) {}

  void begin(uint8_t tag, size_t length) {
    *at_++ = tag;
    if (length >= 0x100) {
      *at_++ = 0x82;
      *at_++ = static_cast<uint8_t>(length >> 8);
    } else if (length >= 0x80) {
      *at_++ = 0x81;
    }
    *at_++ = static_cast<uint8_t>(length);
  }
  void put(Bytes bytes) {
    std::copy(bytes.begin(), bytes.end(), at_);
    at_ += bytes.size();
  }
  void put(const Number &number) {
    begin(kInteger, number.size());
    if (number.has_zero) *at_++ = 0;
    put(number.bytes);
  }

 private:
  uint8_t *at_;
};

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr size_t kLineBytes = 48;  // makes a line of 64 characters
constexpr std::string_view kBegin = "-----BEGIN PRIVATE KEY-----\n",
                           kEnd = "-----END PRIVATE KEY-----\n";

// Returns the value of a Base64 character, or -1. Uses no table, because an index that depends on a
// secret could leak through the cache.
int value_of(uint8_t character) {
  const auto in = [&](uint8_t first, uint8_t last) {
    return ((first - 1 - character) & (character - last - 1)) >> 8 & 0xFF;
  };
  const int c = character;
  int value = -1;
  value += in('A', 'Z') & (c - 'A' + 1);
  value += in('a', 'z') & (c - 'a' + 27);
  value += in('0', '9') & (c - '0' + 53);
  value += in('+', '+') & 63;
  value += in('/', '/') & 64;
  return value;
}

bool is_space(uint8_t character) {
  return character == ' ' || character == '\n' || character == '\r' || character == '\t';
}

// Decodes Base64. Returns the number of bytes, or SIZE_MAX if the text is malformed.
size_t decode(std::string_view text, uint8_t *to) {
  uint32_t bits = 0;
  size_t count = 0, bytes = 0, pads = 0;
  for (const char each : text) {
    const auto character = static_cast<uint8_t>(each);
    if (is_space(character)) continue;
    if (character == '=') {
      ++pads;
      continue;
    }
    const int value = value_of(character);
    if (value < 0 || pads != 0) return SIZE_MAX;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++count % 4 != 0) continue;
    for (int shift = 16; shift >= 0; shift -= 8) to[bytes++] = static_cast<uint8_t>(bits >> shift);
  }
  const size_t left = count % 4;
  if (left == 1 || pads != (left == 0 ? 0 : 4 - left)) return SIZE_MAX;
  if (left >= 2) to[bytes++] = static_cast<uint8_t>(bits >> (left == 2 ? 4 : 10));
  if (left == 3) to[bytes++] = static_cast<uint8_t>(bits >> 2);
  secure::wipe(&bits, sizeof bits);
  return bytes;
}

}  // namespace

bool read_private_key(Bytes der, lc_rsa_parts *parts) {
  Bytes pkcs1;
  *parts = {};
  parts->struct_size = sizeof *parts;
  return read_pkcs1(read_pkcs8(der, &pkcs1) ? pkcs1 : der, parts);
}

KeyMemory read_pem(Bytes text, std::string *why) {
  const std::string_view all(reinterpret_cast<const char *>(text.data()), text.size());
  for (const std::string_view kind : {"PRIVATE KEY-----", "RSA PRIVATE KEY-----"}) {
    const std::string begin = "-----BEGIN " + std::string(kind);
    const size_t first = all.find(begin);
    if (first == std::string_view::npos) continue;
    const size_t from = first + begin.size();
    const size_t last = all.find("-----END " + std::string(kind), from);
    if (last == std::string_view::npos) break;
    const std::string_view body = all.substr(from, last - from);
    if (body.find("ENCRYPTED") != std::string_view::npos) break;
    KeyMemory decoded(body.size());
    const size_t bytes = decoded.ok(body.size()) ? decode(body, decoded.data()) : SIZE_MAX;
    if (bytes == SIZE_MAX || bytes == 0) break;
    KeyMemory der(bytes);
    if (der.ok(bytes)) std::memcpy(der.data(), decoded.data(), bytes);
    return der;
  }
  *why = all.find("ENCRYPTED") != std::string_view::npos
             ? "the key is encrypted: decrypt it first, such as by pyca/cryptography"
             : "this is no PEM of an RSA private key";
  return {};
}

KeyMemory write_private_key(const lc_rsa_parts &parts) {
  const Number numbers[] = {Number(parts.n),  Number(parts.e),   Number(parts.d),
                            Number(parts.p),  Number(parts.q),   Number(parts.dp),
                            Number(parts.dq), Number(parts.qinv)};
  constexpr size_t kVersionBytes = 3;
  size_t inside = kVersionBytes;
  for (const Number &number : numbers) inside += element_bytes(number.size());
  const size_t pkcs1 = element_bytes(inside);
  const size_t outside = kVersionBytes + sizeof kRsaEncryption + element_bytes(pkcs1);
  KeyMemory der(element_bytes(outside));
  if (!der.ok(element_bytes(outside))) return der;
  static constexpr uint8_t kVersion[kVersionBytes] = {kInteger, 1, 0};
  Writer writer(der.data());
  writer.begin(kSequence, outside);
  writer.put(kVersion);
  writer.put(kRsaEncryption);
  writer.begin(kOctets, pkcs1);
  writer.begin(kSequence, inside);
  writer.put(kVersion);
  for (const Number &number : numbers) writer.put(number);
  return der;
}

KeyMemory write_pem(Bytes der) {
  const size_t groups = (der.size() + 2) / 3, lines = (der.size() + kLineBytes - 1) / kLineBytes;
  const size_t bytes = kBegin.size() + 4 * groups + lines + kEnd.size();
  KeyMemory pem(bytes);
  if (!pem.ok(bytes)) return pem;
  uint8_t *at = std::copy(kBegin.begin(), kBegin.end(), pem.data());
  for (size_t n = 0; n < der.size(); n += 3) {
    if (n != 0 && n % kLineBytes == 0) *at++ = '\n';
    const size_t count = std::min<size_t>(3, der.size() - n);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < count ? der[n + k] : 0);
    for (size_t k = 0; k < 4; ++k)
      *at++ = k <= count ? static_cast<uint8_t>(kAlphabet[bits >> (18 - 6 * k) & 63]) : '=';
  }
  *at++ = '\n';
  std::copy(kEnd.begin(), kEnd.end(), at);
  return pem;
}

}  // namespace lanecrypt::python
