// Lines of checksum lists are written and parsed as sha256sum does.
//
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

TEST(ChecksumLine, HasATagOrAZero) {
  EXPECT_EQ(to_line(kDigest, "a b", {"SHA256"}), "SHA256 (a b) = 01abff\n");
  EXPECT_EQ(to_line(kDigest, "a\n", {"SHA256"}), "\\SHA256 (a\\n) = 01abff\n");
  EXPECT_EQ(to_line(kDigest, "a\n", {"", true}), std::string("01abff  a\n\0", 11));
  EXPECT_EQ(to_line(kDigest, "a\\", {"T", true}), std::string("T (a\\) = 01abff\0", 16));
}

// Parses a line with a parser that has not read any other line.
std::optional<ChecksumLine> parse(std::string_view line) {
  return ChecksumParser("SHA256", kDigest.size()).parse(line);
}

TEST(ChecksumLine, EveryNameComesBack) {
  for (const std::string name :
       {"a", " a", "*a", "a\\", "\\n", "\n", "\r\n", "\\", "#", ")", "(", ") = "})
    for (const std::string_view tag : {"", "SHA256"}) {
      std::string line = to_line(kDigest, name, {tag});
      ASSERT_EQ(line.back(), '\n');
      line.pop_back();
      const auto read = parse(line);
      ASSERT_TRUE(read) << line;
      EXPECT_EQ(read->name, name);
      EXPECT_EQ(read->digest, kDigest);
    }
}

TEST(ChecksumLine, TakesTheFormsOfSha256sum) {
  for (const std::string_view line :
       {"01ABFF *x", "01abff x", "01abff\tx", "01abff\t x", "\t 01abff  x", "SHA256 (x) = 01abff",
        "SHA256(x)= 01ABFF", " SHA256 (x)\t=01abff", "\\01abff  x"}) {
    const auto read = parse(line);
    ASSERT_TRUE(read) << line;
    EXPECT_EQ(read->name, "x") << line;
    EXPECT_EQ(read->digest, kDigest) << line;
  }
}

TEST(ChecksumLine, TheFirstFormHolds) {
  ChecksumParser usual("SHA256", 3), reversed("SHA256", 3);
  EXPECT_TRUE(usual.parse("01abff  x"));
  EXPECT_FALSE(usual.parse("01abff x"));
  EXPECT_TRUE(reversed.parse("01abff x"));
  EXPECT_EQ(reversed.parse("01abff  x")->name, " x");
  EXPECT_EQ(reversed.parse("SHA256 (x) = 01abff")->name, "x");
}

TEST(ChecksumLine, RefusesEveryOtherForm) {
  using namespace std::string_view_literals;
  for (const std::string_view line : {""sv,
                                      "\\"sv,
                                      " "sv,
                                      "01abff"sv,
                                      "01abff "sv,
                                      "01abffx x"sv,
                                      "01abff-x"sv,
                                      "01abf  x"sv,
                                      "01abff00  x"sv,
                                      "0gabff  x"sv,
                                      "01abf\xff  x"sv,
                                      "\\01abff  x\\"sv,
                                      "\\01abff  x\\q"sv,
                                      "SHA256"sv,
                                      "SHA256 ("sv,
                                      "SHA256 )"sv,
                                      "SHA256 (x)"sv,
                                      "SHA256 (x) = "sv,
                                      "SHA256 (x) = 01abff "sv,
                                      "SHA256 (x) = 01abff00"sv,
                                      "SHA256 (x 01abff"sv,
                                      "SHA256  (x) = 01abff"sv,
                                      "SHA512 (x) = 01abff"sv,
                                      "sha256 (x) = 01abff"sv,
                                      "01abff  x\0y"sv,
                                      "SHA256 (x\0y) = 01abff"sv})
    EXPECT_FALSE(parse(line)) << line;
}

}  // namespace
}  // namespace lanecrypt::cli
