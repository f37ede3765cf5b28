// SPDX-License-Identifier: Apache-2.0
#include "cli/hash/checksum_line.h"

#include <gtest/gtest.h>

namespace lanecrypt::cli {
namespace {

const std::vector<uint8_t> kDigest = {0x01, 0xab, 0xff};

TEST(ChecksumLine, IsThatOfSha256sum) {
  EXPECT_EQ(to_line(kDigest, "a b"), "01abff  a b\n");
  EXPECT_EQ(to_line(kDigest, "a\\b\nc\rd"), "\\01abff  a\\\\b\\nc\\rd\n");
}

TEST(ChecksumLine, VerdictsAreThoseOfSha256sum) {
  EXPECT_EQ(verdict_line("a\\b\r", "OK"), "\\a\\\\b\\r: OK\n");
  EXPECT_EQ(verdict_line("a\\b: OK\nc\r", "FAILED"), "\\a\\\\b: OK\\nc\\r: FAILED\n");
}

TEST(ChecksumLine, EveryNameComesBack) {
  for (const std::string name : {"a", " a", "*a", "a\\", "\\n", "\n", "\r\n", "\\", "#"}) {
    std::string line = to_line(kDigest, name);
    ASSERT_EQ(line.back(), '\n');
    line.pop_back();
    const auto read = parse_line(line, kDigest.size());
    ASSERT_TRUE(read) << line;
    EXPECT_EQ(read->name, name);
    EXPECT_EQ(read->digest, kDigest);
  }
}

TEST(ChecksumLine, TakesUpperCaseAndBinaryMode) {
  const auto read = parse_line("01ABFF *x", 3);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "x");
  EXPECT_EQ(read->digest, kDigest);
}

TEST(ChecksumLine, RefusesEveryOtherForm) {
  using namespace std::string_view_literals;
  for (const std::string_view line :
       {""sv, "\\"sv, "01abff"sv, "01abff  "sv, "01abff x"sv, "01abffx x"sv, "01abff -x"sv,
        "01abf  x"sv, "01abff00  x"sv, "0gabff  x"sv, "01abf\xff  x"sv, " 01abff  x"sv,
        "\\01abff  x\\"sv, "\\01abff  x\\q"sv, "SHA256 (x) = 01abff"sv, "01abff  x\0y"sv})
    EXPECT_FALSE(parse_line(line, 3)) << line;
}

}  // namespace
}  // namespace lanecrypt::cli
