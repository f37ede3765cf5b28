// SLH-DSA key files: what is written can be read, and nothing is read beyond the end of a truncated
// or changed file.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/slh_key_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "cli/keys/der.h"
#include "cli/keys/pem.h"

namespace lanecrypt::cli {
namespace {

using Octets = std::vector<uint8_t>;

Octets counted(size_t bytes) {
  Octets all(bytes);
  std::iota(all.begin(), all.end(), uint8_t(1));
  return all;
}

bool holds(const SecretBytes &secret, const Octets &bytes) {
  return std::equal(bytes.begin(), bytes.end(), secret.data(), secret.data() + secret.size());
}

SecretBytes as_secret(std::span<const uint8_t> bytes) {
  return SecretBytes::copy_of({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

TEST(SlhKeyFile, WhatIsWrittenIsRead) {
  int sets = 0;
  for (int number = 0; number <= LC_SLH_DSA_SHAKE_256_24; number++) {
    const auto set = lc_slh_dsa_set(number);
    if (lc_slh_dsa_name(set) == nullptr) continue;
    sets++;
    const Octets key = counted(4 * lc_slh_dsa_hash_bytes(set));
    const Octets half(key.begin() + ptrdiff_t(key.size() / 2), key.end());
    SlhKeyFile read;
    EXPECT_EQ(parse_slh_key(slh_private_key_pem(set, key), &read), "");
    EXPECT_TRUE(read.set == set && holds(read.private_key, key) && read.public_key.size() == 0);
    EXPECT_EQ(parse_slh_key(slh_public_key_pem(set, half), &read), "");
    EXPECT_TRUE(read.set == set && holds(read.public_key, half) && read.private_key.size() == 0);
  }
  EXPECT_EQ(sets, 18);
}

// After each change of a byte, the result must be a key of the same length, or nothing.
TEST(SlhKeyFile, ChangedAndCutFiles) {
  const Octets key = counted(64);
  for (const auto &[text, label] :
       {std::pair(slh_private_key_pem(LC_SLH_DSA_SHAKE_128S, key), "PRIVATE KEY"),
        std::pair(slh_public_key_pem(LC_SLH_DSA_SHAKE_128S, std::span(key).first(32)),
                  "PUBLIC KEY")}) {
    const PemBlock block = find_pem(text, {label});
    ASSERT_EQ(block.label, label);
    const Octets der(block.der.data(), block.der.data() + block.der.size());
    size_t taken = 0;
    for (size_t at = 0; at < der.size(); at++) {
      SlhKeyFile read;
      EXPECT_NE(parse_slh_key(pem_of(label, as_secret(std::span(der).first(at))), &read), "") << at;
      for (int change = 1; change < 256; change++) {
        Octets changed = der;
        changed[at] ^= uint8_t(change);
        if (!parse_slh_key(pem_of(label, as_secret(changed)), &read).empty()) {
          EXPECT_EQ(read.private_key.size() + read.public_key.size(), 0u);
          continue;
        }
        taken++;
        EXPECT_EQ(lc_slh_dsa_hash_bytes(read.set), 16u);
      }
    }
    // Accepted are the key itself, three other sets of that length, and for a private key the other
    // version.
    const bool is_private = block.der.size() > 64;
    EXPECT_EQ(taken, (is_private ? 64 : 32) * 255u + 3 + (is_private ? 1 : 0));
  }
}

// Keys of a set of the draft have no structure that identifies them.
TEST(SlhKeyFile, OfADraftsSet) {
  const Octets key = counted(64);
  const SecretBytes text = slh_private_key_pem(LC_SLH_DSA_SHA2_128_24, key);
  const std::string_view label = "SLH-DSA-SHA2-128-24 DRAFT PRIVATE KEY";
  EXPECT_TRUE(holds(find_pem(text, {label}).der, key));
  SlhKeyFile read;
  for (const size_t size : {0u, 1u, 32u, 63u, 65u, 96u}) {
    EXPECT_NE(parse_slh_key(pem_of(label, as_secret(counted(size))), &read), "") << size;
    EXPECT_EQ(read.private_key.size() + read.public_key.size(), 0u);
  }
}

TEST(Der, LengthsThatAreNone) {
  for (const Octets &bytes :
       {Octets{}, Octets{0x30}, Octets{0x30, 1}, Octets{0x30, 0x80, 0, 0}, Octets{0x30, 0x81, 1, 0},
        Octets{0x30, 0x82, 0, 1, 0}, Octets{0x30, 0x82, 1}, Octets{0x31, 0}, Octets(12, 0xff)}) {
    DerReader reader(bytes);
    EXPECT_FALSE(reader.take(kDerSequence));
    EXPECT_EQ(reader.at_end(), bytes.empty());
  }
  for (const size_t length : {0u, 1u, 127u, 128u, 255u, 256u, 65536u}) {
    Octets bytes(der_header_bytes(length) + length + 1);
    DerWriter(bytes.data()).header(kDerOctets, length);
    DerReader reader(bytes);
    const auto contents = reader.take(kDerOctets);
    ASSERT_TRUE(contents);
    EXPECT_EQ(contents->size(), length);
    EXPECT_EQ(contents->data() + length, bytes.data() + bytes.size() - 1);
  }
}

}  // namespace
}  // namespace lanecrypt::cli
