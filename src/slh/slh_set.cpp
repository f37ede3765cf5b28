// SPDX-License-Identifier: Apache-2.0
#include "slh/slh_set.h"

namespace lanecrypt::runtime {
namespace {

constexpr SlhSet kSets[] = {
    {"SHA2-128s", false, 16, 63, 7, 9, 12, 14}, {"SHA2-128f", false, 16, 66, 22, 3, 6, 33},
    {"SHA2-192s", false, 24, 63, 7, 9, 14, 17}, {"SHA2-192f", false, 24, 66, 22, 3, 8, 33},
    {"SHA2-256s", false, 32, 64, 8, 8, 14, 22}, {"SHA2-256f", false, 32, 68, 17, 4, 9, 35},
    {"SHAKE-128s", true, 16, 63, 7, 9, 12, 14}, {"SHAKE-128f", true, 16, 66, 22, 3, 6, 33},
    {"SHAKE-192s", true, 24, 63, 7, 9, 14, 17}, {"SHAKE-192f", true, 24, 66, 22, 3, 8, 33},
    {"SHAKE-256s", true, 32, 64, 8, 8, 14, 22}, {"SHAKE-256f", true, 32, 68, 17, 4, 9, 35},
};

}  // namespace

std::span<const SlhSet> slh_sets() { return kSets; }

const SlhSet *find_slh_set(std::string_view name) {
  for (const SlhSet &set : kSets)
    if (set.name == name) return &set;
  return nullptr;
}

}  // namespace lanecrypt::runtime
