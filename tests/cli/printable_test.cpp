// Foreign text is printed with control characters and invalid UTF-8 escaped.
//
// SPDX-License-Identifier: Apache-2.0
#include "process/printable.h"

#include <gtest/gtest.h>

namespace lanecrypt::process {
namespace {

using namespace std::string_literals;

TEST(Printable, KeepsText) {
  for (const std::string text : {"", "a b", "~!\\", "\u00a0", "\u00e9\u07ff",
                                 "\u0800\ud7ff\ue000\uffff", "\U00010000\U0010ffff"})
    EXPECT_EQ(text, printable(text));
}

TEST(Printable, EscapesWhatATerminalObeys) {
  EXPECT_EQ("a\\000\\033[2J\\n\\r\\t\\177"s, printable("a\0\x1b[2J\n\r\t\x7f"s));
  // Unicode's control characters too, but nothing next to them.
  EXPECT_EQ("\\302\\2332J \u00b0 \u00db", printable("\u009b2J \u00b0 \u00db"));
}

TEST(Printable, EscapesWhatIsNoUtf8) {
  EXPECT_EQ("\\200a\\377", printable("\x80"
                                     "a\xff"));
  // Too short, too long, a surrogate, above the last code point, and five bytes long.
  EXPECT_EQ("\\302A\\302", printable("\xc2"
                                     "A\xc2"));
  EXPECT_EQ("\\300\\257", printable("\xc0\xaf"));
  EXPECT_EQ("\\340\\237\\277", printable("\xe0\x9f\xbf"));
  EXPECT_EQ("\\360\\217\\277\\277", printable("\xf0\x8f\xbf\xbf"));
  EXPECT_EQ("\\355\\240\\200", printable("\xed\xa0\x80"));
  EXPECT_EQ("\\364\\220\\200\\200", printable("\xf4\x90\x80\x80"));
  EXPECT_EQ("\\370\\210\\200\\200\\200", printable("\xf8\x88\x80\x80\x80"));
  EXPECT_EQ("\\342\\202", printable("\xe2\x82"));
}

}  // namespace
}  // namespace lanecrypt::process
