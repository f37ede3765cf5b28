// Lines with a digest and a file name, as sha256sum and b3sum write and read them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lanecrypt::cli {

struct ChecksumLine {
  std::vector<uint8_t> digest;
  std::string name;
};

// The format of a line.
struct LineForm {
  std::string_view tag;       // "SHA256" for "SHA256 (NAME) = DIGEST"; empty for "DIGEST  NAME"
  bool ends_by_zero = false;  // ends with a null byte instead of a newline; nothing in the name is
                              // escaped
};

// Returns the line with its end. If the name contains a backslash, a newline or a carriage return,
// these are written as \\, \n and \r, and the line begins with a backslash.
std::string to_line(std::span<const uint8_t> digest, std::string_view name, LineForm form = {});

// Returns the line with the result of a check, such as "NAME: OK", with its newline. The name is
// escaped as in to_line(). sha256sum --check does the same, but older versions escape only a
// newline.
std::string verdict_line(std::string_view name, std::string_view verdict);

// Parses the lines of lists as sha256sum --check does.
class ChecksumParser {
 public:
  // `tag` is the name of the hash in a line such as "SHA256 (NAME) = DIGEST".
  ChecksumParser(std::string tag, size_t digest_bytes)
      : tag_(std::move(tag)), digest_bytes_(digest_bytes) {}
  // Parses a line without its end. Returns nothing if it is malformed or has a digest of another
  // length. Digits may be in upper or lower case, and white space may come first. The forms are:
  //   DIGEST, a space or tab, a space or asterisk, NAME
  //   DIGEST, a space or tab, NAME
  //   TAG, an optional space, (NAME), = with optional spaces and tabs around it, DIGEST
  // Whichever of the first two forms occurs first is required of all later lines, including those
  // of other lists. Otherwise the form of one line could make the parser read a name with a space
  // more or less.
  std::optional<ChecksumLine> parse(std::string_view line);

 private:
  std::optional<ChecksumLine> parse_tagged(std::string_view rest, bool is_escaped) const;

  const std::string tag_;
  const size_t digest_bytes_;
  enum class Form { kUnknown, kTwoLetters, kOneLetter } form_ = Form::kUnknown;
};

}  // namespace lanecrypt::cli
