// Text that is not ours, such as the name of a file, as a terminal or a log may be shown it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanecrypt::process {

// The text in UTF-8 without control characters. In the place of each of these, and of each byte
// that is no UTF-8, stands \n, \r or \t, or a backslash with three octal digits. So a terminal
// takes nothing for a command, and a line stays one line.
std::string printable(std::string_view text);

}  // namespace lanecrypt::process
