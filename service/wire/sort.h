// What operations are told apart by, where they are measured, counted and shared out.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace lanecrypt::service {

enum class Family : uint32_t { kRsa, kMlDsa };

struct Sort {
  Family family = Family::kRsa;
  uint32_t size = 0;  // bits of RSA's modulus, or the number of ML-DSA's parameter set

  bool operator==(const Sort &) const = default;
};

// The parameter sets of ML-DSA (FIPS 204, table 2): the bytes of a private key as skEncode makes
// it, and of a signature as sigEncode makes it.
struct MlDsaSet {
  uint32_t number, key_bytes, signature_bytes;
};
inline constexpr MlDsaSet kMlDsaSets[] = {{44, 2560, 2420}, {65, 4032, 3309}, {87, 4896, 4627}};
inline constexpr size_t kMlDsaSetCount = std::size(kMlDsaSets);

// nullptr if there is no such set.
constexpr const MlDsaSet *find_ml_dsa_set(uint32_t number) {
  for (const MlDsaSet &set : kMlDsaSets)
    if (set.number == number) return &set;
  return nullptr;
}
// The place of a set in kMlDsaSets.
constexpr size_t place_of_ml_dsa_set(uint32_t number) {
  size_t place = 0;
  while (place + 1 < kMlDsaSetCount && kMlDsaSets[place].number != number) ++place;
  return place;
}

}  // namespace lanecrypt::service
