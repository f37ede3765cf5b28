// SPDX-License-Identifier: Apache-2.0
#include "job/slh_set.h"

namespace lanecrypt {
namespace {

constexpr SlhSet kSets[] = {
    {LC_SLH_DSA_SHA2_128S, "SLH-DSA-SHA2-128s", false, 16, 63, 7, 9, 12, 14},
    {LC_SLH_DSA_SHA2_128F, "SLH-DSA-SHA2-128f", false, 16, 66, 22, 3, 6, 33},
    {LC_SLH_DSA_SHA2_192S, "SLH-DSA-SHA2-192s", false, 24, 63, 7, 9, 14, 17},
    {LC_SLH_DSA_SHA2_192F, "SLH-DSA-SHA2-192f", false, 24, 66, 22, 3, 8, 33},
    {LC_SLH_DSA_SHA2_256S, "SLH-DSA-SHA2-256s", false, 32, 64, 8, 8, 14, 22},
    {LC_SLH_DSA_SHA2_256F, "SLH-DSA-SHA2-256f", false, 32, 68, 17, 4, 9, 35},
    {LC_SLH_DSA_SHAKE_128S, "SLH-DSA-SHAKE-128s", true, 16, 63, 7, 9, 12, 14},
    {LC_SLH_DSA_SHAKE_128F, "SLH-DSA-SHAKE-128f", true, 16, 66, 22, 3, 6, 33},
    {LC_SLH_DSA_SHAKE_192S, "SLH-DSA-SHAKE-192s", true, 24, 63, 7, 9, 14, 17},
    {LC_SLH_DSA_SHAKE_192F, "SLH-DSA-SHAKE-192f", true, 24, 66, 22, 3, 8, 33},
    {LC_SLH_DSA_SHAKE_256S, "SLH-DSA-SHAKE-256s", true, 32, 64, 8, 8, 14, 22},
    {LC_SLH_DSA_SHAKE_256F, "SLH-DSA-SHAKE-256f", true, 32, 68, 17, 4, 9, 35},
    {LC_SLH_DSA_SHA2_128_24, "SLH-DSA-SHA2-128-24", false, 16, 22, 1, 22, 24, 6, 2},
    {LC_SLH_DSA_SHA2_192_24, "SLH-DSA-SHA2-192-24", false, 24, 21, 1, 21, 25, 9, 3},
    {LC_SLH_DSA_SHA2_256_24, "SLH-DSA-SHA2-256-24", false, 32, 21, 1, 21, 25, 12, 2},
    {LC_SLH_DSA_SHAKE_128_24, "SLH-DSA-SHAKE-128-24", true, 16, 22, 1, 22, 24, 6, 2},
    {LC_SLH_DSA_SHAKE_192_24, "SLH-DSA-SHAKE-192-24", true, 24, 21, 1, 21, 25, 9, 3},
    {LC_SLH_DSA_SHAKE_256_24, "SLH-DSA-SHAKE-256-24", true, 32, 21, 1, 21, 25, 12, 2},
};
static_assert(std::size(kSets) == kSlhSets);

// The sets of FIPS 205 are numbered from 0 on, those of the draft from 32 on.
constexpr uint32_t kFinal = 12, kFirstDraft = LC_SLH_DSA_SHA2_128_24;

constexpr bool are_as_said() {
  for (uint32_t i = 0; i < kSlhSets; ++i) {
    const SlhSet &set = kSets[i];
    if (set.number != (i < kFinal ? i : kFirstDraft + i - kFinal)) return false;
    if (set.is_draft() != (i >= kFinal) || (set.is_draft() && set.layers != 1)) return false;
    if (set.digest_bytes() > kMostSlhDigestBytes) return false;
  }
  return true;
}
static_assert(are_as_said());

}  // namespace

const SlhSet *find_slh_set(uint32_t number) {
  for (const SlhSet &set : kSets)
    if (uint32_t(set.number) == number) return &set;
  return nullptr;
}

uint32_t place_of(const SlhSet &set) { return uint32_t(&set - kSets); }

const SlhSet *find_slh_set(std::string_view name) {
  constexpr size_t kFamily = std::string_view("SLH-DSA-").size();
  for (const SlhSet &set : kSets)
    if (std::string_view(set.name).substr(kFamily) == name) return &set;
  return nullptr;
}

}  // namespace lanecrypt
