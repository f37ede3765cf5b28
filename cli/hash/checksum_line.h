// A digest and the name of its file on one line, as sha256sum and b3sum write and read it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lanecrypt::cli {

struct ChecksumLine {
  std::vector<uint8_t> digest;
  std::string name;
};

// With its newline. If the name holds a backslash, a newline or a carriage return, these are
// written as \\, \n and \r, and the line begins with a backslash.
std::string to_line(std::span<const uint8_t> digest, std::string_view name);

// The line that says what came of a file, such as "NAME: OK", with its newline. The name is as
// to_line() writes it, which sha256sum --check does too, but older ones only for a newline.
std::string verdict_line(std::string_view name, std::string_view verdict);

// Reads a line without its newline: digits in either case, a space, a space or an asterisk,
// and the name. Nothing if it has another form, or a digest of another length.
std::optional<ChecksumLine> parse_line(std::string_view line, size_t digest_bytes);

}  // namespace lanecrypt::cli
