// Hexadecimal input must be exact, and error messages do not quote it.
//
// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/hex.h"

#include <gtest/gtest.h>

#include <array>
#include <cctype>

#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

TEST(Hex, EveryByteInEitherCase) {
  for (int value = 0; value < 256; value++) {
    const std::array<uint8_t, 1> byte = {static_cast<uint8_t>(value)};
    std::string text = to_hex(byte);
    for (int round = 0; round < 2; round++) {
      std::array<uint8_t, 1> read = {0x55};
      parse_hex(text, read, "x");
      EXPECT_EQ(read, byte) << text;
      for (char &c : text) c = static_cast<char>(std::tolower(c));
    }
  }
}

TEST(Hex, EveryOtherCharacterIsRefused) {
  for (int character = 0; character < 256; character++) {
    const std::string text = {'0', static_cast<char>(character)};
    std::array<uint8_t, 1> out{};
    if (std::isxdigit(character))
      EXPECT_NO_THROW(parse_hex(text, out, "x")) << character;
    else
      EXPECT_THROW(parse_hex(text, out, "x"), Failure) << character;
  }
}

TEST(Hex, LengthMustFit) {
  std::array<uint8_t, 2> out{};
  for (const char *text : {"", "0", "00", "000", "00000", "000000"})
    EXPECT_THROW(parse_hex(text, out, "x"), Failure) << text;
  EXPECT_NO_THROW(parse_hex("0000", out, "x"));
}

TEST(Hex, TheMessageDoesNotQuoteTheText) {
  std::array<uint8_t, 2> out{};
  try {
    parse_hex("dead0", out, "key");
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_EQ(std::string(failure.what()).find("dead"), std::string::npos);
    EXPECT_EQ(failure.code(), ExitCode::kUsage);
  }
}

}  // namespace
}  // namespace lanecrypt::cli
