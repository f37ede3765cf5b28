// Converts between hexadecimal text and bytes, as for the options -K, -iv and -S.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lanecrypt::cli {

// Fills all of `out` from exactly twice as many digits, in upper or lower case. Throws Failure
// (kUsage) for any other length or character. `what` names the value in the message ("key (-K)");
// the message never quotes the text. openssl enc pads a short value with zeros and truncates a long
// one. Here both are errors, so that nothing is encrypted with a mistyped key.
void parse_hex(std::string_view text, std::span<uint8_t> out, std::string_view what);

// Returns upper-case digits, as openssl enc -p prints them.
std::string to_hex(std::span<const uint8_t> bytes);

}  // namespace lanecrypt::cli
