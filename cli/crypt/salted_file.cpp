// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/salted_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

constexpr char kMagic[] = "Salted__";
constexpr size_t kMagicBytes = sizeof kMagic - 1;

}  // namespace

std::array<uint8_t, kSaltedHeaderBytes> salted_header(const Salt &salt) {
  std::array<uint8_t, kSaltedHeaderBytes> header;
  std::memcpy(header.data(), kMagic, kMagicBytes);
  std::copy(salt.begin(), salt.end(), header.begin() + kMagicBytes);
  return header;
}

Salt read_salted_header(Input &input) {
  std::array<uint8_t, kSaltedHeaderBytes> header{};
  const size_t bytes = input.read(header);
  const bool is_ours =
      std::memcmp(header.data(), kMagic, std::min(bytes, kMagicBytes)) == 0 && bytes > 0;
  if (bytes < header.size() && (is_ours || bytes == 0))
    throw Failure(ExitCode::kBadData,
                  fmt::format("{}: the file is truncated: it has {} bytes, and the salt's header "
                              "alone has {}",
                              input.name(), bytes, header.size()));
  if (!is_ours)
    throw Failure(ExitCode::kBadData,
                  fmt::format("{}: bad magic number: the file does not begin with \"Salted__\", so "
                              "it was not encrypted with a passphrase and a salt (give -nosalt, "
                              "-S or -K where it was encrypted so)",
                              input.name()));
  Salt salt;
  std::copy(header.begin() + kMagicBytes, header.end(), salt.begin());
  return salt;
}

}  // namespace lanecrypt::cli
