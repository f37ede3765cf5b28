// The arithmetic of the tags of GCM and ChaCha20-Poly1305, with the examples of their standards. No
// device is needed.
//
// SPDX-License-Identifier: Apache-2.0
#include "cpu/tag_arithmetic.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lanecrypt::cpu {
namespace {

std::vector<uint8_t> bytes_of(const std::string &hex) {
  std::vector<uint8_t> bytes;
  for (size_t n = 0; n < hex.size(); n += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(n, 2), nullptr, 16)));
  return bytes;
}

Block block_of(const std::string &hex) { return load_block(bytes_of(hex).data()); }

std::string hex_of(const void *from, size_t count = 16) {
  std::string hex;
  for (size_t n = 0; n < count; ++n) {
    const uint8_t byte = static_cast<const uint8_t *>(from)[n];
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

std::string hex_of(Gf128 number) {
  const Block block = gf128_to_block(number);
  return hex_of(&block);
}

// Test cases 4 and 6 of McGrew and Viega, "The Galois/Counter Mode of Operation (GCM)".
constexpr char kH[] = "b83b533708bf535d0aa6e52980d53b78";
constexpr char kAad[] = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
constexpr char kText4[] =
    "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
    "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091";

TEST(TagArithmetic, BlocksOfLengths) {
  Block block = lengths_block(Mode::kGcm, 20, 60);
  EXPECT_EQ(hex_of(&block), "00000000000000a000000000000001e0");
  block = lengths_block(Mode::kGcm, 0x0123456789abcd, (uint64_t{1} << 36) - 32);
  EXPECT_EQ(hex_of(&block), "00091a2b3c4d5e680000007fffffff00");
  block = lengths_block(Mode::kChaCha20Poly1305, 12, 0x01020304050607);
  EXPECT_EQ(hex_of(&block), "0c000000000000000706050403020100");
}

TEST(TagArithmetic, GcmStartsWithIvsOfEveryLength) {
  const Gf128 h = gf128_of_block(block_of(kH));
  uint8_t start[16];
  const auto expect_start = [&](const std::string &iv, const char *j0) {
    std::fill_n(start, sizeof start, uint8_t{0xee});
    gcm_start(h, bytes_of(iv).data(), iv.size() / 2, start);
    EXPECT_EQ(hex_of(start), j0) << iv;
  };
  expect_start("cafebabefacedbaddecaf888", "cafebabefacedbaddecaf88800000001");
  expect_start("cafebabefacedbad", "c43a83c4c4badec4354ca984db252f7d");
  expect_start(
      "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e2429a6b"
      "525416aedbf5a0de6a57a637b39b",
      "3bab75780a31c059f83d2a44752f9864");
}

TEST(TagArithmetic, GcmTagsAreSharesThatAddUp) {
  const Gf128 h = gf128_of_block(block_of(kH));
  const std::vector<uint8_t> aad = bytes_of(kAad), text = bytes_of(kText4);
  const Block mask = block_of("3247184b3c4f69a44dbcd22887bbb418");
  const Block tag = block_of("5bc94fbc3221a5db94fae95ae7121a47");
  const Gf128 of_aad = ghash(h, Gf128{}, aad.data(), aad.size());
  const Gf128 all = ghash(h, of_aad, text.data(), text.size());
  // The last block of a share has the power 2.
  EXPECT_EQ(hex_of(gf128_multiply(all, h)),
            hex_of(gcm_hash_of_tag(h, tag, mask, aad.size(), text.size())));
  EXPECT_EQ(hex_of(gf128_add(gf128_multiply(all, h), gcm_closing(h, aad.size(), text.size()))),
            "698e57f70e6ecc7fd9463b7260a9ae5f");
  for (size_t cut : {0, 16, 48}) {
    const Gf128 first = ghash(h, of_aad, text.data(), cut);
    const Gf128 second = ghash(h, Gf128{}, text.data() + cut, text.size() - cut);
    EXPECT_EQ(hex_of(join_shares(h, first, second, (text.size() - cut + 15) / 16)), hex_of(all))
        << cut;
  }
}

// RFC 8439, section 2.5.2.
TEST(TagArithmetic, Poly1305SplitsItsKeyAndAddsUp) {
  const std::vector<uint8_t> key =
      bytes_of("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b");
  Poly r;
  Block s;
  poly1305_key(key.data(), &r, &s);
  const Block none = {};
  const Block clamped = poly_finish(r, none);
  EXPECT_EQ(hex_of(&clamped), "85d6be0854556d037c44520e40d50608");
  EXPECT_EQ(hex_of(&s), "0103808afb0db2fd4abff6af4149f51b");

  const std::string text = "Cryptographic Forum Research Group";
  Poly blocks[3];
  for (size_t n = 0; n < 3; ++n)
    blocks[n] = poly_of_block(
        load_block(reinterpret_cast<const uint8_t *>(text.data()) + 16 * n, text.size() - 16 * n));
  // In a block of two bytes the 1 bit follows them.
  blocks[2].w[4] &= 0xffffffu;
  blocks[2].w[0] += 1u << 16;
  Poly first = poly_zero();
  for (size_t n = 0; n < 2; ++n) first = poly_multiply(poly_sum(first, blocks[n]), r);
  const Block tag = poly_finish(join_shares(r, first, poly_multiply(blocks[2], r), 1), s);
  EXPECT_EQ(hex_of(&tag), "a8061dc1305136c6c22b8baf0c0127a9");
}

}  // namespace
}  // namespace lanecrypt::cpu
