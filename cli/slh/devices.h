// The options of `lanecrypt slh-dsa` that choose the devices or the service, and the report of what
// was used.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {

class SlhDevices {
 public:
  // Adds the names of these options.
  static void add_names(std::vector<OptionName> &names);
  void declare(CLI::App &app);
  // Do the same for the options of the service, if it supports the subcommand. Call declare()
  // first.
  static void add_service_name(std::vector<OptionName> &names);
  void declare_service(CLI::App &app);
  bool is_remote() const { return service_.has_value(); }
  // Opens the context. Throws Error.
  Context open() const;

 private:
  CLI::Option *list_option_ = nullptr;
  std::optional<std::string> list_, service_, service_owner_;
  bool require_ = false;
};

// Returns the device with the most operations, or "the CPU".
std::string who_worked(const Context &context);

}  // namespace lanecrypt::cli
