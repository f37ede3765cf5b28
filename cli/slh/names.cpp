// SPDX-License-Identifier: Apache-2.0
#include "cli/slh/names.h"

#include <fmt/format.h>
#include <strings.h>

#include <string_view>
#include <vector>

#include "cli/failure.h"
#include "cli/hash/hashlib_name.h"

namespace lanecrypt::cli {
namespace {

constexpr std::string_view kFamily = "SLH-DSA-";

struct PreHash {
  const char *name;
  lc_pre_hash number;
};
constexpr PreHash kPreHashes[] = {
    {"sha224", LC_PRE_HASH_SHA2_224},         {"sha256", LC_PRE_HASH_SHA2_256},
    {"sha384", LC_PRE_HASH_SHA2_384},         {"sha512", LC_PRE_HASH_SHA2_512},
    {"sha512-224", LC_PRE_HASH_SHA2_512_224}, {"sha512-256", LC_PRE_HASH_SHA2_512_256},
    {"sha3-224", LC_PRE_HASH_SHA3_224},       {"sha3-256", LC_PRE_HASH_SHA3_256},
    {"sha3-384", LC_PRE_HASH_SHA3_384},       {"sha3-512", LC_PRE_HASH_SHA3_512},
    {"shake128", LC_PRE_HASH_SHAKE_128},      {"shake256", LC_PRE_HASH_SHAKE_256},
};

// Returns the parameter sets of FIPS 205, and then those of the draft.
std::vector<lc_slh_dsa_set> all_sets() {
  std::vector<lc_slh_dsa_set> sets;
  for (int number = 0; number <= LC_SLH_DSA_SHAKE_256_24; number++)
    if (const auto set = static_cast<lc_slh_dsa_set>(number); lc_slh_dsa_name(set) != nullptr)
      sets.push_back(set);
  return sets;
}

// Returns the name of a set without the prefix "SLH-DSA-".
const char *short_name(lc_slh_dsa_set set) { return lc_slh_dsa_name(set) + kFamily.size(); }

}  // namespace

lc_slh_dsa_set find_slh_set(const std::string &name) {
  for (const lc_slh_dsa_set set : all_sets())
    if (strcasecmp(name.c_str(), short_name(set)) == 0 ||
        strcasecmp(name.c_str(), lc_slh_dsa_name(set)) == 0)
      return set;
  throw Failure(ExitCode::kUsage,
                fmt::format("unknown set '{}': there are {}", name, slh_set_names()));
}

std::string slh_set_names() {
  std::string names;
  for (const lc_slh_dsa_set set : all_sets()) {
    if (set == LC_SLH_DSA_SHA2_128_24) names += "; of the draft SP 800-230 ";
    const bool is_first = set == LC_SLH_DSA_SHA2_128S || set == LC_SLH_DSA_SHA2_128_24;
    names += fmt::format("{}{}", is_first ? "" : ", ", short_name(set));
  }
  return names;
}

lc_pre_hash find_pre_hash(const std::string &name) {
  for (const PreHash &hash : kPreHashes)
    if (strcasecmp(name.c_str(), hash.name) == 0 ||
        strcasecmp(name.c_str(), hashlib_name(hash.name).c_str()) == 0)
      return hash.number;
  throw Failure(ExitCode::kUsage,
                fmt::format("unknown hash '{}': there are {}", name, pre_hash_names()));
}

std::string pre_hash_names() {
  std::string names;
  for (const PreHash &hash : kPreHashes)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", hash.name);
  return names;
}

}  // namespace lanecrypt::cli
