// Makes foreign text, such as the name of a file, safe to print to a terminal or a log.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanecrypt::process {

// printable() returns the text in UTF-8 without control characters. Each of these, and each byte
// that is not valid UTF-8, is replaced by \n, \r or \t, or by a backslash and three octal digits.
// So a terminal takes nothing for a command, and a line stays one line.
std::string printable(std::string_view text);

}  // namespace lanecrypt::process
