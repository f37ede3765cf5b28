// The kinds of operations by which the service measures, counts and schedules: a family, and the
// size or the parameter set of the key.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace lanecrypt::service {

enum class Family : uint32_t { kRsa, kMlDsa, kSlhDsa };

struct OperationKind {
  Family family = Family::kRsa;
  uint32_t size = 0;  // bits of the RSA modulus, or the number of a parameter set

  bool operator==(const OperationKind &) const = default;
};

// A parameter set of ML-DSA (FIPS 204, table 2) or of SLH-DSA (FIPS 205, table 2) for which the
// service signs. The lengths are those in packets: see Sign in messages.h.
struct SignatureSet {
  Family family;
  uint32_t number;  // a value of lc_ml_dsa_set or lc_slh_dsa_set
  const char *name;
  uint32_t input_bytes, key_bytes, signature_bytes;
  // SLH-DSA: the compressions of SHA-256, or permutations of Keccak, in a signature, in thousands.
  uint32_t thousand_hashes = 0;

  constexpr OperationKind operation_kind() const { return {family, number}; }
  constexpr bool is_shake() const { return family == Family::kSlhDsa && number >= 6; }
};
inline constexpr SignatureSet kSignatureSets[] = {
    {Family::kMlDsa, 44, "ml-dsa-44", 96, 2560, 2420},
    {Family::kMlDsa, 65, "ml-dsa-65", 96, 4032, 3309},
    {Family::kMlDsa, 87, "ml-dsa-87", 96, 4896, 4627},
    {Family::kSlhDsa, 0, "slh-dsa-sha2-128s", 46, 48, 7856, 2218},
    {Family::kSlhDsa, 1, "slh-dsa-sha2-128f", 50, 48, 17088, 107},
    {Family::kSlhDsa, 2, "slh-dsa-sha2-192s", 63, 72, 16224, 3800},
    {Family::kSlhDsa, 3, "slh-dsa-sha2-192f", 66, 72, 35664, 171},
    {Family::kSlhDsa, 4, "slh-dsa-sha2-256s", 79, 96, 29792, 3316},
    {Family::kSlhDsa, 5, "slh-dsa-sha2-256f", 81, 96, 49856, 350},
    {Family::kSlhDsa, 6, "slh-dsa-shake-128s", 46, 48, 7856, 2218},
    {Family::kSlhDsa, 7, "slh-dsa-shake-128f", 50, 48, 17088, 107},
    {Family::kSlhDsa, 8, "slh-dsa-shake-192s", 63, 72, 16224, 3800},
    {Family::kSlhDsa, 9, "slh-dsa-shake-192f", 66, 72, 35664, 171},
    {Family::kSlhDsa, 10, "slh-dsa-shake-256s", 79, 96, 29792, 3316},
    {Family::kSlhDsa, 11, "slh-dsa-shake-256f", 81, 96, 49856, 350},
};
inline constexpr size_t kSignatureSetCount = std::size(kSignatureSets);
inline constexpr std::span<const SignatureSet> kMlDsaSets = std::span(kSignatureSets).first(3),
                                               kSlhDsaSets = std::span(kSignatureSets).subspan(3);

// Returns the parameter set of a kind of operation, or nullptr if there is none.
constexpr const SignatureSet *find_set(const OperationKind &operation_kind) {
  for (const SignatureSet &set : kSignatureSets)
    if (set.operation_kind() == operation_kind) return &set;
  return nullptr;
}
// Returns the index of a set in kSignatureSets.
constexpr size_t index_of_set(const OperationKind &operation_kind) {
  size_t index = 0;
  while (index + 1 < kSignatureSetCount && kSignatureSets[index].operation_kind() != operation_kind)
    ++index;
  return index;
}

}  // namespace lanecrypt::service
