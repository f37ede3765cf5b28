// SPDX-License-Identifier: Apache-2.0
#include "cli/hash/check_list.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/console.h"
#include "cli/hash/checksum_line.h"
#include "cli/io/message.h"

namespace lanecrypt::cli {
namespace {

// The lines of a list.
struct List {
  std::vector<std::string> names;
  std::vector<std::vector<uint8_t>> digests;
  uint64_t malformed = 0;
};

List read_list(const std::string &path, ChecksumParser &parser, bool warns) {
  const Message text(path);
  std::string_view rest(reinterpret_cast<const char *>(text.data()), text.size());
  const std::string name = path == "-" ? "standard input" : path;
  List list;
  for (uint64_t number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with('#')) continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    std::optional<ChecksumLine> read = parser.parse(line);
    // Standard input cannot be the list and one of its files.
    if (!read || (path == "-" && read->name == "-")) {
      ++list.malformed;
      if (!warns) continue;
      complain(
          fmt::format("{}: line {} is malformed: it is not a digest of this hash and a file name",
                      name, number));
      continue;
    }
    list.names.push_back(std::move(read->name));
    list.digests.push_back(std::move(read->digest));
  }
  if (const std::optional<Failure> damage = text.damage()) throw *damage;
  return list;
}

}  // namespace

CheckCounts check_list(const std::string &path, ChecksumParser &parser, HashFiles &files,
                       const CheckOptions &options) {
  using Prints = CheckOptions::Prints;
  const List list = read_list(path, parser, options.warns);
  const std::string name = path == "-" ? "standard input" : path;
  if (list.names.empty())
    throw Failure(ExitCode::kFailed, fmt::format("{}: there is no line to check", name));
  CheckCounts counts;
  counts.malformed = list.malformed;
  files.run(list.names, [&](const HashFiles::Outcome &outcome) {
    const std::string &file = list.names[outcome.number];
    if (outcome.failure != nullptr) {
      if (outcome.is_missing && options.ignores_missing) return;
      ++counts.unread;
      complain(outcome.failure->what());
      if (options.prints != Prints::kNothing)
        fmt::print("{}", verdict_line(file, "FAILED open or read"));
      return;
    }
    // Compares in constant time, because the digest may be a MAC under a secret key.
    const bool is_right = CRYPTO_memcmp(outcome.digest.data(), list.digests[outcome.number].data(),
                                        outcome.digest.size()) == 0;
    ++(is_right ? counts.right : counts.wrong);
    if (options.prints == Prints::kAll || (options.prints == Prints::kWrong && !is_right))
      fmt::print("{}", verdict_line(file, is_right ? "OK" : "FAILED"));
  });
  if (options.ignores_missing && counts.right + counts.wrong + counts.unread == 0)
    throw Failure(ExitCode::kFailed, fmt::format("{}: none of its files is there", name));
  return counts;
}

}  // namespace lanecrypt::cli
