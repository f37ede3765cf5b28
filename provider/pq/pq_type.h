// The parameter sets of the post-quantum signature algorithms: their OpenSSL names, sizes and
// library constants.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "provider/provider.h"
#include "service/wire/operation_kind.h"

namespace lanecrypt::provider {

enum class PqFamily { kMlDsa, kSlhDsa };

struct PqType {
  PqFamily family;
  // OpenSSL's name, for fetching its own implementation, and its list of names with aliases and
  // object identifiers.
  const char *name, *names;
  int set;  // lc_ml_dsa_set or lc_slh_dsa_set
  size_t signature_bytes;
  // The length in bytes of the random input of a signature: rnd of ML-DSA, opt_rand of SLH-DSA. For
  // SLH-DSA it is n; a public key has 2 n bytes and a private key 4 n.
  size_t random_bytes;

  // The operation kind in the service's protocol.
  constexpr service::OperationKind operation_kind() const {
    return {family == PqFamily::kMlDsa ? service::Family::kMlDsa : service::Family::kSlhDsa,
            uint32_t(set)};
  }
  // Whether the hash of an SLH-DSA set is SHAKE256; otherwise it is SHA-2.
  constexpr bool is_shake() const {
    return family == PqFamily::kSlhDsa && set >= LC_SLH_DSA_SHAKE_128S;
  }
};

#define SLH_DSA(hash, HASH, size, SIZE, number, bytes, n)                                      \
  {                                                                                            \
    PqFamily::kSlhDsa, "SLH-DSA-" HASH "-" size,                                               \
        "SLH-DSA-" HASH "-" size ":id-slh-dsa-" hash "-" size ":2.16.840.1.101.3.4.3." number, \
        LC_SLH_DSA_##SIZE, bytes, n                                                            \
  }
// kPqTypes has the parameter sets, signature lengths and names of FIPS 204, table 2; RFC 9881,
// section 2; FIPS 205, table 2; RFC 9909, section 3.
inline constexpr PqType kPqTypes[] = {
    {PqFamily::kMlDsa, "ML-DSA-44", "ML-DSA-44:MLDSA44:2.16.840.1.101.3.4.3.17:id-ml-dsa-44",
     LC_ML_DSA_44, 2420, 32},
    {PqFamily::kMlDsa, "ML-DSA-65", "ML-DSA-65:MLDSA65:2.16.840.1.101.3.4.3.18:id-ml-dsa-65",
     LC_ML_DSA_65, 3309, 32},
    {PqFamily::kMlDsa, "ML-DSA-87", "ML-DSA-87:MLDSA87:2.16.840.1.101.3.4.3.19:id-ml-dsa-87",
     LC_ML_DSA_87, 4627, 32},
    SLH_DSA("sha2", "SHA2", "128s", SHA2_128S, "20", 7856, 16),
    SLH_DSA("sha2", "SHA2", "128f", SHA2_128F, "21", 17088, 16),
    SLH_DSA("sha2", "SHA2", "192s", SHA2_192S, "22", 16224, 24),
    SLH_DSA("sha2", "SHA2", "192f", SHA2_192F, "23", 35664, 24),
    SLH_DSA("sha2", "SHA2", "256s", SHA2_256S, "24", 29792, 32),
    SLH_DSA("sha2", "SHA2", "256f", SHA2_256F, "25", 49856, 32),
    SLH_DSA("shake", "SHAKE", "128s", SHAKE_128S, "26", 7856, 16),
    SLH_DSA("shake", "SHAKE", "128f", SHAKE_128F, "27", 17088, 16),
    SLH_DSA("shake", "SHAKE", "192s", SHAKE_192S, "28", 16224, 24),
    SLH_DSA("shake", "SHAKE", "192f", SHAKE_192F, "29", 35664, 24),
    SLH_DSA("shake", "SHAKE", "256s", SHAKE_256S, "30", 29792, 32),
    SLH_DSA("shake", "SHAKE", "256f", SHAKE_256F, "31", 49856, 32),
};
#undef SLH_DSA
// The index in kPqTypes of the first set of each family.
inline constexpr size_t kMlDsaTypes = 0, kSlhDsaTypes = 3;

inline constexpr size_t kMostPqRandomBytes = 32;

}  // namespace lanecrypt::provider
