// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/pem.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace lanecrypt::cli {
namespace {

// The number of bytes in a line of Base64 of 64 characters.
constexpr size_t kLineBytes = 48;

// White space, W in the lax grammar of RFC 7468, section 3, figure 2.
constexpr std::string_view kWhiteSpace = " \t\r\n\v\f";
constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ", kDashes = "-----";

struct Encapsulated {
  std::string_view label;
  std::string_view base64;  // with white space
};

// Returns whether only white space precedes the position `at` in its line.
bool begins_line(std::string_view text, size_t at) {
  while (at > 0 && text[at - 1] != '\n' && text[at - 1] != '\r') {
    if (kWhiteSpace.find(text[at - 1]) == std::string_view::npos) return false;
    --at;
  }
  return true;
}

// Returns the next block of `rest`, and removes everything up to the first line of that block from
// `rest`.
std::optional<Encapsulated> next_block(std::string_view &rest) {
  for (;;) {
    const size_t begin = rest.find(kBegin);
    if (begin == std::string_view::npos) return std::nullopt;
    const bool is_first = begins_line(rest, begin);
    rest.remove_prefix(begin + kBegin.size());
    const size_t dashes = rest.find(kDashes);
    if (!is_first || dashes == std::string_view::npos) continue;
    const std::string_view label = rest.substr(0, dashes),
                           body = rest.substr(dashes + kDashes.size());
    const size_t end = body.find(kDashes);
    if (label.find_first_of("\r\n") != std::string_view::npos || end == std::string_view::npos)
      continue;
    std::string_view last = body.substr(end);
    if (!last.starts_with(kEnd)) continue;
    last.remove_prefix(kEnd.size());
    if (!last.starts_with(label) || !last.substr(label.size()).starts_with(kDashes)) continue;
    return Encapsulated{label, body.substr(0, end)};
  }
}

bool is_base64(char letter) {
  return (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') ||
         (letter >= '0' && letter <= '9') || letter == '+' || letter == '/';
}

// Decodes Base64 with white space anywhere. Returns nothing if the text contains anything else,
// such as the headers of a key that is encrypted in the traditional PEM format.
std::optional<SecretBytes> decode(std::string_view text) {
  SecretBytes letters(text.size());
  size_t count = 0, padding = 0;
  for (const char letter : text) {
    if (kWhiteSpace.find(letter) != std::string_view::npos) continue;
    if (letter == '=' ? ++padding > 2 : (padding > 0 || !is_base64(letter))) return std::nullopt;
    letters.data()[count++] = static_cast<uint8_t>(letter);
  }
  if (count == 0 || count % 4 != 0 || count > INT_MAX) return std::nullopt;
  SecretBytes der(count / 4 * 3);
  if (EVP_DecodeBlock(der.data(), letters.data(), static_cast<int>(count)) < 0) return std::nullopt;
  der.shorten(der.size() - padding);
  return der;
}

}  // namespace

SecretBytes pem_of(std::string_view label, const SecretBytes &der) {
  const std::string begin = fmt::format("-----BEGIN {}-----\n", label),
                    end = fmt::format("-----END {}-----\n", label);
  const size_t bytes = der.size(), lines = (bytes + kLineBytes - 1) / kLineBytes;
  // EVP_EncodeBlock() writes a null byte after each line, which the newline replaces.
  SecretBytes pem(begin.size() + 4 * ((bytes + 2) / 3) + lines + end.size());
  uint8_t *to = pem.data();
  std::memcpy(to, begin.data(), begin.size());
  to += begin.size();
  for (size_t at = 0; at < bytes; at += kLineBytes) {
    to += EVP_EncodeBlock(to, der.data() + at, static_cast<int>(std::min(kLineBytes, bytes - at)));
    *to++ = '\n';
  }
  std::memcpy(to, end.data(), end.size());
  return pem;
}

PemBlock find_pem(const SecretBytes &text, const std::vector<std::string_view> &labels) {
  std::string_view rest(text.text(), text.size());
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // of UTF-8, as some editors write it
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  while (const std::optional<Encapsulated> found = next_block(rest)) {
    if (std::find(labels.begin(), labels.end(), found->label) == labels.end()) continue;
    if (std::optional<SecretBytes> der = decode(found->base64))
      return {std::string(found->label), std::move(*der)};
  }
  return {};
}

}  // namespace lanecrypt::cli
