// The command lanecrypt: finds the subcommand, runs it, and turns what it
// throws into a sentence and an exit code.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <openssl/crypto.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/subcommand.h"
#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::cli {
namespace {

constexpr char kHelp[] =
    R"(Encrypts and decrypts files with AES, and makes RSA keys, on graphics processors.

Examples:
  lanecrypt enc -aes-256-ctr -pbkdf2 -in disk.img -out disk.img.enc
  lanecrypt dec -aes-256-ctr -pbkdf2 -in disk.img.enc -out disk.img
  lanecrypt genrsa --count 1000 --bits 4096 --out-dir keys
  lanecrypt devices
  lanecrypt bench aes --quick
)";

struct Entry {
  const char *name;
  const char *summary;
  std::unique_ptr<Subcommand> (*make)();
};
constexpr Entry kEntries[] = {
    {"enc", "encrypt a file, in the format of openssl enc", make_enc},
    {"dec", "decrypt a file of lanecrypt enc or openssl enc", make_dec},
    {"genrsa", "make RSA keys, one or many", make_genrsa},
    {"devices", "list the devices", make_devices},
    {"bench", "measure", make_bench},
    {"tune", "measure what runs where", make_tune},
};

int fail(ExitCode code, std::string_view text) {
  say(fmt::format("lanecrypt: {}\n", text));
  return static_cast<int>(code);
}

int run_subcommand(const Entry &entry, int argc, char **argv) {
  const std::unique_ptr<Subcommand> subcommand = entry.make();
  CLI::App app;
  app.name(std::string("lanecrypt ") + entry.name);
  app.get_formatter()->column_width(28);
  subcommand->declare(app);
  Arguments arguments = translate_arguments(argc, argv, 2, subcommand->option_names());
  try {
    // The parser takes them from the back.
    std::reverse(arguments.words.begin(), arguments.words.end());
    app.parse(std::move(arguments.words));
  } catch (const CLI::CallForHelp &) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::ParseError &error) {
    return fail(ExitCode::kUsage,
                fmt::format("{} (see lanecrypt {} --help)", error.what(), entry.name));
  }
  subcommand->run(std::move(arguments.secrets));
  return 0;
}

int run(int argc, char **argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "--version" || word == "-version" || word == "version") {
    fmt::print("lanecrypt {}\n", lc_version());
    return 0;
  }
  for (const Entry &entry : kEntries)
    if (word == entry.name) return run_subcommand(entry, argc, argv);
  const bool help = word == "--help" || word == "-help" || word == "-h" || word == "help";
  if (!help && !word.empty())
    return fail(ExitCode::kUsage, fmt::format("unknown command '{}' (see lanecrypt --help)", word));
  std::string usage = fmt::format(
      "{}\nUsage: lanecrypt COMMAND [OPTIONS]; `lanecrypt COMMAND --help` says more.\n", kHelp);
  for (const Entry &entry : kEntries)
    usage += fmt::format("  {:<10}{}\n", entry.name, entry.summary);
  usage += fmt::format("  {:<10}{}\n", "--version", "print the version");
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
  using namespace lanecrypt::cli;
  hold_standard_descriptors();
  // A reader that goes away and a limit on the size of files are errors of
  // writing, told like any other.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // What openssl.cnf activates is for other programs: here OpenSSL is the CPU.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  try {
    const int code = run(argc, argv);
    finish_standard_output();
    return code;
  } catch (const Failure &failure) {
    return fail(failure.code(), failure.what());
  } catch (const std::bad_alloc &) {
    return fail(ExitCode::kFailed, "out of memory");
  } catch (const std::exception &error) {
    return fail(ExitCode::kFailed, error.what());
  }
}
