// One subcommand of lanecrypt: its form on the command line, and how it runs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.h"

namespace lanecrypt::cli {

class Subcommand {
 public:
  virtual ~Subcommand() = default;
  // Its options, as the command line may name them.
  virtual std::vector<OptionName> option_names() const = 0;
  // What an option's name may be beside: "cipher" where it may be that of a cipher; or nullptr.
  virtual const char *also_options() const { return nullptr; }
  // Declares them to the parser.
  virtual void declare(CLI::App &app) = 0;
  // Runs after the parser has read `words`. Throws Failure.
  virtual void run(std::vector<SecretBytes> secrets) = 0;
};

std::unique_ptr<Subcommand> make_enc();
std::unique_ptr<Subcommand> make_dec();
std::unique_ptr<Subcommand> make_genrsa();
std::unique_ptr<Subcommand> make_hash();
std::unique_ptr<Subcommand> make_devices();
std::unique_ptr<Subcommand> make_tune();

}  // namespace lanecrypt::cli
