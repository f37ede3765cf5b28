// Tests SM4-XTS, which OpenSSL has from 3.2 on, by both of its standards: the provider must
// interpret the parameter xts_standard as OpenSSL does.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "provider/provider_under_test.h"
#include "provider/random_input.h"

namespace provider_test {
namespace {

constexpr char kName[] = "SM4-XTS", kStandard[] = "xts_standard";

// random_standard() returns the name of a standard, in upper or lower case, or an invalid name.
const char *random_standard(Random &random) {
  static const char *const kAll[] = {"GB", "IEEE", "gb", "ieee", "IEEE", "GB", "IEE", ""};
  return kAll[below(random, 8)];
}

void run_case(Library &library, uint64_t seed) {
  Random random(seed);
  Twins twins(library, kName);
  Bytes key = random_bytes(random, 32), iv = random_bytes(random, 16);
  // OpenSSL accepts two equal keys.
  if (below(random, 8) == 0) std::copy_n(key.begin(), 16, key.begin() + 16);
  std::string standard = random_standard(random);
  OSSL_PARAM params[] = {
      {kStandard, OSSL_PARAM_UTF8_STRING, standard.data(), standard.size(), OSSL_PARAM_UNMODIFIED},
      OSSL_PARAM_END};
  twins.init(key.data(), below(random, 10) == 0 ? nullptr : iv.data(), int(below(random, 2)),
             below(random, 2) == 0 ? params : nullptr);
  for (size_t call = 0, calls = 1 + below(random, 8); call < calls && twins.is_whole(); ++call) {
    switch (below(random, 12)) {
      case 0:
        twins.duplicate();
        break;
      case 1:
        twins.read_parameters();
        break;
      case 2:
        twins.set_text(kStandard, random_standard(random));
        break;
      case 3:
        iv = random_bytes(random, 16);
        twins.init(nullptr, iv.data(), -1);
        break;
      case 4:
        key = random_bytes(random, 32);
        twins.init(key.data(), iv.data(), int(below(random, 2)),
                   below(random, 2) == 0 ? params : nullptr);
        break;
      case 5:
        twins.at_once(random_bytes(random, below(random, 700)), Twins::Aliasing::kApart,
                      below(random, 16));
        break;
      case 6:
        twins.init(nullptr, nullptr, int(below(random, 2)));
        break;
      default:
        twins.update(random_bytes(random, below(random, 1500)),
                     below(random, 2) == 0 ? Twins::Aliasing::kApart : Twins::Aliasing::kInPlace,
                     below(random, 16));
    }
  }
  twins.finish();
  twins.read_parameters();
  EXPECT_TRUE(twins.is_whole()) << "seed " << seed << ": " << twins.difference();
}

TEST(Sm4Xts, DoesWhatOpenSSLDoesByEitherStandard) {
  Library library({{"devices", devices_under_test()}, {"threshold_bytes", "64"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  const bool has_it = library.cipher(kName, "default") != nullptr;
  EXPECT_EQ(has_it, library.cipher(kName, "gpu") != nullptr);
  take_errors();
  if (!has_it) GTEST_SKIP() << "OpenSSL before 3.2 has no SM4-XTS, and ours then offers none";
  for (uint64_t seed = 1; seed <= 600 && !HasFailure(); ++seed) run_case(library, seed);
  if (!only_opengl_is_under_test()) {
    EXPECT_GT(library.counter("lanecrypt.device-jobs"), 500u);
  }
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
}

}  // namespace
}  // namespace provider_test
