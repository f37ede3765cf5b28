// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/auxv.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/console.h"

namespace lanecrypt::cli {
namespace {

// Makes the signal harmless with a handler that does nothing. SIG_IGN would survive exec, and a
// program that this process executes would ignore the signal; exec resets a handler to the default.
// A signal that was ignored before stays ignored.
void survive(int signal_number) {
  if (std::signal(signal_number, [](int) {}) == SIG_IGN) std::signal(signal_number, SIG_IGN);
}

// Returns the message about words that the parser did not expect. `also` is
// Subcommand::also_options().
std::string unexpected(const CLI::ExtrasError &error, const CLI::App &app, const char *also) {
  const std::vector<std::string> words = app.remaining();
  if (words.empty()) return error.what();
  // Leaves out the word's value and all following words, because they may be secrets.
  const std::string_view word = std::string_view(words[0]).substr(0, words[0].find('='));
  if (also == nullptr || !word.starts_with("--"))
    return fmt::format("unexpected argument: {}", word);
  return fmt::format("there is no option and no {} '{}'; the help lists them", also,
                     word.substr(2));
}

// Returns the message about a required option or positional argument that is missing. The parser's
// own text contains only its name.
std::string missing(const CLI::App &app) {
  for (const CLI::Option *option : app.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    std::string name = option->get_name();
    const bool is_option = !option->get_lnames().empty();
    if (is_option)
      name = "--" + option->get_lnames()[0];
    else
      for (char &letter : name)
        if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    return fmt::format("the {} {} is missing: give {}", is_option ? "option" : "argument", name,
                       option->get_description());
  }
  return "an argument is missing";
}

// Returns the message for a parse error. If the last option lacks its value, the parser's text
// names the option's type too, which is removed.
std::string text_of(const CLI::ParseError &error, const CLI::App &app) {
  if (dynamic_cast<const CLI::RequiredError *>(&error) != nullptr) return missing(app);
  const std::string text = error.what();
  const bool is_missing = dynamic_cast<const CLI::ArgumentMismatch *>(&error) != nullptr &&
                          text.starts_with("--") && text.ends_with(" missing");
  return is_missing ? text.substr(0, text.find(':')) + " needs a value" : text;
}

}  // namespace

int fail(ExitCode code, std::string_view text) {
  if (!text.empty()) complain(text);
  return static_cast<int>(code);
}

int run_subcommand(std::string_view name, Subcommand &subcommand, int argc, char **argv,
                   int first) {
  CLI::App app;
  app.name(fmt::format("lanecrypt {}", name));
  app.get_formatter()->column_width(28);
  subcommand.declare(app);
  Arguments arguments = translate_arguments(argc, argv, first, subcommand.option_names());
  try {
    // CLI11 reads the vector from its end.
    std::reverse(arguments.words.begin(), arguments.words.end());
    app.parse(std::move(arguments.words));
  } catch (const CLI::CallForHelp &) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::ParseError &error) {
    const auto *extras = dynamic_cast<const CLI::ExtrasError *>(&error);
    const std::string text = extras == nullptr
                                 ? text_of(error, app)
                                 : unexpected(*extras, app, subcommand.also_options());
    return fail(ExitCode::kUsage, fmt::format("{} (see lanecrypt {} --help)", text, name));
  }
  subcommand.run(std::move(arguments.secrets));
  return 0;
}

std::string sibling_program(const char *name) {
  if (getauxval(AT_SECURE) != 0)
    throw Failure(ExitCode::kFailed,
                  fmt::format("{} is not run with more rights than its caller has", name));
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw Failure(ExitCode::kFailed, fmt::format("{} is not found without /proc", name));
  return self.parent_path() / name;
}

int run_program(const std::function<int()> &run) {
  hold_standard_descriptors();
  // A closed pipe and the limit on file sizes then appear as write errors and are reported like any
  // other.
  survive(SIGPIPE);
  survive(SIGXFSZ);
  // The command uses OpenSSL for work on the CPU, so it does not load openssl.cnf, which may
  // activate other providers.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  try {
    const int code = run();
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

}  // namespace lanecrypt::cli
