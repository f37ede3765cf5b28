// The interface of a subcommand: its options, and its execution.
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
  // Returns the option names that the command line may use.
  virtual std::vector<OptionName> option_names() const = 0;
  // Returns what the word after the dashes may name besides an option, for error messages: "cipher"
  // if it may be the name of a cipher. nullptr if it can only be an option.
  virtual const char *also_options() const { return nullptr; }
  // Declares the options to the parser.
  virtual void declare(CLI::App &app) = 0;
  // Runs the subcommand after the parser has read Arguments::words. Throws Failure.
  virtual void run(std::vector<SecretBytes> secrets) = 0;
};

std::unique_ptr<Subcommand> make_enc();
std::unique_ptr<Subcommand> make_dec();
std::unique_ptr<Subcommand> make_genrsa();
std::unique_ptr<Subcommand> make_hash();
std::unique_ptr<Subcommand> make_devices();
std::unique_ptr<Subcommand> make_tune();

}  // namespace lanecrypt::cli
