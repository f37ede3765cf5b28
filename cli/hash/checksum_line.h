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
#include <utility>
#include <vector>

namespace lanecrypt::cli {

struct ChecksumLine {
  std::vector<uint8_t> digest;
  std::string name;
};

// How lines of digests are written.
struct LineForm {
  std::string_view tag;       // "SHA256" for "SHA256 (NAME) = DIGEST"; empty for "DIGEST  NAME"
  bool ends_by_zero = false;  // and not by a newline; then nothing in the name is escaped
};

// With its end. If the name holds a backslash, a newline or a carriage return, these are
// written as \\, \n and \r, and the line begins with a backslash.
std::string to_line(std::span<const uint8_t> digest, std::string_view name, LineForm form = {});

// The line that says what came of a file, such as "NAME: OK", with its newline. The name is as
// to_line() writes it, which sha256sum --check does too, but older ones only for a newline.
std::string verdict_line(std::string_view name, std::string_view verdict);

// Reads the lines of lists as sha256sum --check does.
class ChecksumParser {
 public:
  // `tag`: the name of the hash in a line such as "SHA256 (NAME) = DIGEST".
  ChecksumParser(std::string tag, size_t digest_bytes)
      : tag_(std::move(tag)), digest_bytes_(digest_bytes) {}
  // Reads a line without its end. Nothing if it has another form, or a digest of another length.
  // Digits are of either case. White space may come first. Then it is one of:
  //   DIGEST, a blank or tab, a blank or asterisk, NAME
  //   DIGEST, a blank or tab, NAME
  //   TAG, perhaps a blank, (NAME), = with blanks and tabs around it, DIGEST
  // The first of the two forms that begin with a digest holds for all lines that follow, also
  // those of other lists, so that nobody can add a blank to a name by the form of one line.
  std::optional<ChecksumLine> parse(std::string_view line);

 private:
  std::optional<ChecksumLine> parse_tagged(std::string_view rest, bool is_escaped) const;

  const std::string tag_;
  const size_t digest_bytes_;
  enum class Form { kUnknown, kTwoLetters, kOneLetter } form_ = Form::kUnknown;
};

}  // namespace lanecrypt::cli
