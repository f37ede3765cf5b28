// The command lanecrypt: finds the subcommand and runs it.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/bench.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/program.h"
#include "cli/run/run.h"
#include "cli/service/service.h"
#include "cli/slh/slh_dsa.h"
#include "cli/subcommand.h"
#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::cli {
namespace {

constexpr char kHelp[] =
    R"(Encrypts and decrypts files with AES, SM4, Camellia or ARIA, hashes files, signs files
with SLH-DSA, and makes keys, on GPUs. Runs programs that use OpenSSL with a GPU.

Examples:
  lanecrypt enc -aes-256-ctr -pbkdf2 -in disk.img -out disk.img.enc
  lanecrypt dec -aes-256-ctr -pbkdf2 -in disk.img.enc -out disk.img
  lanecrypt genrsa --count 1000 --bits 4096 --out-dir keys
  lanecrypt hash -blake3 disk.img
  lanecrypt slh-dsa sign --key key.pem *.tar
  lanecrypt run -- nginx -g 'daemon off;'
  lanecrypt devices
  lanecrypt bench aes --quick
)";

// Runs the subcommand that `kMake` creates. argv[1] is its name.
template <std::unique_ptr<Subcommand> (*kMake)()>
int start(int argc, char **argv) {
  return run_subcommand(argv[1], *kMake(), argc, argv, 2);
}

int start_bench(int, char **argv) { become_bench(argv); }

struct Entry {
  const char *name;
  const char *summary;
  int (*start)(int argc, char **argv);  // returns the exit code
  bool has_words = false;               // has subcommands, such as `slh-dsa sign`
};
constexpr Entry kEntries[] = {
    {"enc", "Encrypts a file in the format of openssl enc.", start<make_enc>},
    {"dec", "Decrypts a file of lanecrypt enc or openssl enc.", start<make_dec>},
    {"hash", "Prints or checks the digests of files.", start<make_hash>},
    {"genrsa", "Makes one or many RSA keys.", start<make_genrsa>},
    {"slh-dsa", "Makes SLH-DSA keys, signs files, and verifies signatures.", start_slh_dsa, true},
    {"run", "Runs a program that uses OpenSSL, with a private service.", start_run},
    {"service", "Prints the state of the service lanecryptd.", start_service, true},
    {"devices", "Lists the devices.", start<make_devices>},
    {"bench", "Runs benchmarks.", start_bench},
    {"tune", "Measures which requests should run on which device.", start<make_tune>},
};

bool asks_for_help(std::string_view word) {
  return word == "--help" || word == "-help" || word == "-h" || word == "help";
}

const Entry *find_entry(std::string_view name) {
  for (const Entry &entry : kEntries)
    if (name == entry.name) return &entry;
  return nullptr;
}

// Translates a request for help: `help enc` becomes `enc --help`, and both `help slh-dsa sign` and
// `slh-dsa help sign` become `slh-dsa sign --help`. Returns the new argument list, which ends with
// a null pointer, or nothing if the arguments are not such a request.
std::optional<std::vector<char *>> ask_for_help(int argc, char **argv) {
  static char help[] = "--help";
  const auto word = [&](int at) -> std::string_view { return at < argc ? argv[at] : ""; };
  const bool is_first = asks_for_help(word(1));
  const Entry *const entry = find_entry(word(is_first ? 2 : 1));
  if (entry == nullptr || (!is_first && !(entry->has_words && word(2) == "help" && argc > 3)))
    return std::nullopt;
  std::vector<char *> words = {argv[0], argv[is_first ? 2 : 1]};
  if (entry->has_words && argc > 3) words.push_back(argv[3]);
  words.insert(words.end(), {help, nullptr});
  return words;
}

int run(int argc, char **argv) {
  if (std::optional<std::vector<char *>> words = ask_for_help(argc, argv))
    return run(static_cast<int>(words->size()) - 1, words->data());
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "--version" || word == "-version" || word == "version") {
    fmt::print("lanecrypt {}\n", lc_version());
    return 0;
  }
  if (const Entry *const entry = find_entry(word)) return entry->start(argc, argv);
  const bool help = asks_for_help(word);
  // The word that is not a command: the first one, or the one after `help`.
  const std::string_view unknown = !help ? word : argc > 2 && argv[2][0] != '-' ? argv[2] : "";
  if (!unknown.empty() && !asks_for_help(unknown))
    return fail(ExitCode::kUsage,
                fmt::format("unknown command '{}' (see lanecrypt --help)", unknown));
  std::string usage = fmt::format(
      "{}\nUsage: lanecrypt COMMAND [OPTIONS]; `lanecrypt help COMMAND` describes a command.\n",
      kHelp);
  for (const Entry &entry : kEntries)
    usage += fmt::format("  {:<10}{}\n", entry.name, entry.summary);
  usage += fmt::format("  {:<10}{}\n", "--version", "Prints the version.");
  if (!help) {
    say(usage);
    return static_cast<int>(ExitCode::kUsage);
  }
  fmt::print("{}", usage);
  return 0;
}

}  // namespace
}  // namespace lanecrypt::cli

int main(int argc, char **argv) {
  return lanecrypt::cli::run_program([&] { return lanecrypt::cli::run(argc, argv); });
}
