// The names of ciphers mean the same as in OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/block_cipher_mode.h"

#include <gtest/gtest.h>

#include <string>

#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

// For each name libcrypto fetches the same cipher, if it was built with it.
TEST(BlockCipherMode, NamesMeanWhatTheyMeanToOpenSsl) {
  std::vector<std::string> names = cipher_names();
  for (const char *block : {"aes", "camellia", "aria"})
    for (const char *bits : {"128", "192", "256"}) names.push_back(std::string(block) + bits);
  names.push_back("sm4");
  for (const std::string &name : names) {
    const std::optional<BlockCipherMode> cipher = find_cipher(name);
    ASSERT_TRUE(cipher) << name;
    const EvpCipher theirs{EVP_CIPHER_fetch(nullptr, name.c_str(), "provider=default")};
    if (theirs) {
      EXPECT_TRUE(EVP_CIPHER_is_a(theirs.get(), cipher->name.c_str())) << name;
    }
  }
}

TEST(BlockCipherMode, OtherNamesAreNone) {
  for (const char *name :
       {"", "aes", "aes64", "sm4128", "sm4-128-cbc", "camellia", "aria512", "aes-128-cb", "des3"})
    EXPECT_FALSE(find_cipher(name)) << name;
}

}  // namespace
}  // namespace lanecrypt::cli
