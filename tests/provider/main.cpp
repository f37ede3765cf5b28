// Runs the provider's tests.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "provider/provider_under_test.h"

using namespace provider_test;

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  std::printf("libcrypto: %s\n", O(OpenSSL_version)(OPENSSL_VERSION));
  // The default for tests that name no device.
  setenv("LANECRYPT_DEVICES", "host", 0);
  return RUN_ALL_TESTS();
}
