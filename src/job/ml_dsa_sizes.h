// The parameter sets of ML-DSA (FIPS 204, Table 2), as far as their users see them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt {

inline constexpr uint32_t kMlDsaSeedBytes = 32;
inline constexpr uint32_t kMlDsaRandomBytes = 32;
inline constexpr uint32_t kMlDsaMuBytes = 64;
inline constexpr uint32_t kMlDsaContextBytes = 255;  // at most

struct MlDsaSizes {
  lc_ml_dsa_set set;
  const char *name;  // OpenSSL's name
  uint32_t public_bytes, private_bytes, signature_bytes;
};

inline constexpr MlDsaSizes kMlDsaSizes[] = {
    {LC_ML_DSA_44, "ML-DSA-44", 1312, 2560, 2420},
    {LC_ML_DSA_65, "ML-DSA-65", 1952, 4032, 3309},
    {LC_ML_DSA_87, "ML-DSA-87", 2592, 4896, 4627},
};

// Returns nullptr if there is no such set.
constexpr const MlDsaSizes *find_ml_dsa_sizes(uint32_t set) {
  for (const MlDsaSizes &sizes : kMlDsaSizes)
    if (uint32_t(sizes.set) == set) return &sizes;
  return nullptr;
}

}  // namespace lanecrypt
