// SPDX-License-Identifier: Apache-2.0
#include "rsa/rsa_kind.h"

#include <algorithm>
#include <iterator>

#include "cpu/rsa/rsa_image.h"
#include "kernels/rsa/rsa_layout.h"

namespace lanecrypt::runtime {
namespace {

constexpr RsaClass kClasses[] = {{514, 10, 20},  {1034, 20, 39},  {1554, 30, 58},
                                 {2074, 40, 78}, {3114, 60, 116}, {4154, 80, 156}};
constexpr uint32_t kLeastModulusBits = 1024;

constexpr bool classes_have_room() {
  for (const RsaClass &size : kClasses)
    if (size.prime_bits + RSA_SPARE_BITS > RSA_FP64_BITS * size.fp64_limbs ||
        size.prime_bits + RSA_SPARE_BITS > RSA_U32_BITS * size.u32_limbs)
      return false;
  return true;
}
static_assert(classes_have_room());

}  // namespace

const RsaClass &rsa_class(RsaKind kind) { return kClasses[kind - 1]; }

uint32_t longest_prime_bits(const RsaKey &key) {
  return std::max(bits_of(key.numbers.p), bits_of(key.numbers.q));
}

RsaKind rsa_kind(uint32_t modulus_bits) {
  if (modulus_bits < kLeastModulusBits) return 0;
  for (RsaKind kind = 1; kind <= std::size(kClasses); ++kind)
    if (modulus_bits <= 2 * rsa_class(kind).prime_bits) return kind;
  return 0;
}

RsaKind rsa_kind(const RsaKey &key, lc_rsa_operation operation) {
  if (key.exponent == 0) return 0;
  uint32_t bits = key.modulus_bits;
  if (operation == LC_RSA_PRIVATE) {
    if (!key.is_private) return 0;
    // The kind follows the longer prime. Primes of very unequal length waste part of the shorter
    // one's half.
    if (bits >= kLeastModulusBits) bits = std::max(bits, 2 * longest_prime_bits(key));
  }
  return rsa_kind(bits);
}

}  // namespace lanecrypt::runtime
