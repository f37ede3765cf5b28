// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_xts.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace lanecrypt::cpu {
namespace {

// An element of the field of IEEE 1619, section 5.2, as the bytes of a block.
using Element = std::array<uint64_t, 2>;
static_assert(sizeof(Element) == kBlockBytes);

// Multiplies by x, without a branch on secret bits.
void double_element(Element &element) {
  const uint64_t over = element[1] >> 63;
  element[1] = element[1] << 1 | element[0] >> 63;
  element[0] = element[0] << 1 ^ ((0 - over) & 0x87);
}

Element multiply(Element secret, const Element &known) {
  Element product = {0, 0};
  for (unsigned bit = 0; bit < 128; ++bit) {
    if (known[bit / 64] >> bit % 64 & 1)
      for (unsigned word = 0; word < 2; ++word) product[word] ^= secret[word];
    double_element(secret);
  }
  return product;
}

// Returns x to the power of a block's number in its data unit.
Element power_of_x(uint64_t exponent) {
  Element power = {1, 0};
  for (int bit = 63 - __builtin_clzll(exponent | 1); bit >= 0; --bit) {
    power = multiply(power, power);
    if (exponent >> bit & 1) double_element(power);
  }
  return power;
}

// Reverses the bits of every byte, as GB/T 17964 orders tweaks.
void turn_bytes(Element &element) {
  for (uint64_t &word : element) {
    word = (word >> 1 & 0x5555555555555555u) | (word & 0x5555555555555555u) << 1;
    word = (word >> 2 & 0x3333333333333333u) | (word & 0x3333333333333333u) << 2;
    word = (word >> 4 & 0x0f0f0f0f0f0f0f0fu) | (word & 0x0f0f0f0f0f0f0f0fu) << 4;
  }
}

void add(const uint8_t *in, const uint8_t *mask, uint8_t *out, uint64_t length) {
  for (uint64_t n = 0; n < length; ++n) out[n] = in[n] ^ mask[n];
}

// `Unit` is the state of a data unit in progress.
class Unit {
 public:
  Unit(const CipherKind &kind, const uint8_t *key)
      : kind_(kind), key_(key), is_turned_(kind.info().mode == Mode::kXtsGb) {}
  ~Unit() {
    secure::wipe(&tweak_, sizeof tweak_);
    secure::wipe(masks_, sizeof masks_);
  }
  Unit(const Unit &) = delete;
  Unit &operator=(const Unit &) = delete;

  Status begin(const Iv &number, uint64_t first) {
    LC_TRY(run_cipher(kind_.as(Mode::kEcb, LC_ENCRYPT), {key_ + kind_.one_key_bytes(), {}},
                      number.data(), reinterpret_cast<uint8_t *>(tweak_.data()), kBlockBytes));
    if (is_turned_) turn_bytes(tweak_);
    tweak_ = multiply(tweak_, power_of_x(first));
    return Status();
  }
  void skip() { double_element(tweak_); }
  const Element &tweak() const { return tweak_; }
  void go_to(const Element &tweak) { tweak_ = tweak; }

  // Encrypts or decrypts whole blocks.
  Status run(const uint8_t *in, uint8_t *out, uint64_t length) {
    for (uint64_t at = 0, bytes = 0; at < length; at += bytes) {
      bytes = std::min<uint64_t>(length - at, sizeof masks_);
      for (uint64_t block = 0; block < bytes; block += kBlockBytes) {
        Element mask = tweak_;
        if (is_turned_) turn_bytes(mask);
        std::memcpy(masks_ + block, &mask, kBlockBytes);
        double_element(tweak_);
      }
      add(in + at, masks_, out + at, bytes);
      LC_TRY(
          run_cipher(kind_.as(Mode::kEcb, kind_.direction), {key_, {}}, out + at, out + at, bytes));
      add(out + at, masks_, out + at, bytes);
    }
    return Status();
  }

 private:
  const CipherKind kind_;
  const uint8_t *const key_;
  const bool is_turned_;
  Element tweak_ = {};
  uint8_t masks_[256 * kBlockBytes];
};

}  // namespace

Status run_xts_unit(const CipherKind &kind, const uint8_t *key, const Iv &number, uint64_t first,
                    const uint8_t *in, uint8_t *out, uint64_t length) {
  Unit unit(kind, key);
  LC_TRY(unit.begin(number, first));
  const uint64_t part = length % kBlockBytes;
  if (part == 0) return unit.run(in, out, length);
  // IEEE 1619, sections 5.3.2 and 5.4.2: decryption uses the last two tweaks in reverse order.
  const uint64_t plain = length - part - kBlockBytes;
  LC_TRY(unit.run(in, out, plain));
  in += plain;
  out += plain;
  const Element before = unit.tweak();
  if (kind.direction == LC_DECRYPT) unit.skip();
  uint8_t made[kBlockBytes], joined[kBlockBytes];
  LC_TRY(unit.run(in, made, kBlockBytes));
  std::memcpy(joined, in + kBlockBytes, part);
  std::memcpy(joined + part, made + part, kBlockBytes - part);
  std::memcpy(out + kBlockBytes, made, part);
  if (kind.direction == LC_DECRYPT) unit.go_to(before);
  const Status status = unit.run(joined, out, kBlockBytes);
  secure::wipe(made, sizeof made);
  secure::wipe(joined, sizeof joined);
  return status;
}

}  // namespace lanecrypt::cpu
