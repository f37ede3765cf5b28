// SPDX-License-Identifier: Apache-2.0
#include "cli/slh/slh_dsa.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/console.h"
#include "cli/failure.h"
#include "cli/program.h"

namespace lanecrypt::cli {
namespace {

template <std::unique_ptr<Subcommand> (*kMake)()>
int start(const char *name, int argc, char **argv) {
  return run_subcommand(fmt::format("slh-dsa {}", name), *kMake(), argc, argv, 3);
}

struct Entry {
  const char *name;
  const char *summary;
  int (*start)(const char *name, int argc, char **argv);
};
constexpr Entry kEntries[] = {
    {"keygen", "Makes one or many keys.", start<make_slh_keygen>},
    {"public", "Writes the public key of a private key.", start<make_slh_public>},
    {"sign", "Signs files.", start<make_slh_sign>},
    {"verify", "Verifies the signatures of files.", start<make_slh_verify>},
};

}  // namespace

int start_slh_dsa(int argc, char **argv) {
  const std::string_view word = argc > 2 ? argv[2] : "";
  for (const Entry &entry : kEntries)
    if (word == entry.name) return entry.start(entry.name, argc, argv);
  std::string usage =
      "Makes SLH-DSA keys (FIPS 205), signs files, and verifies signatures. openssl supports\n"
      "these keys and signatures from version 3.5 on.\n\nExamples:\n"
      "  lanecrypt slh-dsa keygen --out key.pem SHA2-128s\n"
      "  lanecrypt slh-dsa public --key key.pem --out public.pem\n"
      "  lanecrypt slh-dsa sign --key key.pem *.tar\n"
      "  lanecrypt slh-dsa verify --key public.pem *.tar\n\n"
      "Usage: lanecrypt slh-dsa WHAT [OPTIONS]; WHAT is one of\n";
  for (const Entry &entry : kEntries)
    usage += fmt::format("  {:<10}{}\n", entry.name, entry.summary);
  if (word == "--help" || word == "-help" || word == "-h" || word == "help") {
    fmt::print("{}", usage);
    return 0;
  }
  if (word.empty()) {
    say(usage);
    return static_cast<int>(ExitCode::kUsage);
  }
  return fail(ExitCode::kUsage,
              fmt::format("unknown word '{}' (see lanecrypt slh-dsa --help)", word));
}

}  // namespace lanecrypt::cli
