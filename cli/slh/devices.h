// On which devices a run of `lanecrypt slh-dsa` works, or by which service: the options for it, and
// what it says of that in the end.
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
  // Adds the names of its options.
  static void add_names(std::vector<OptionName> &names);
  void declare(CLI::App &app);
  // The same for what the service does too. After declare().
  static void add_service_name(std::vector<OptionName> &names);
  void declare_service(CLI::App &app);
  bool is_served() const { return service_.has_value(); }
  // Throws Error.
  Context open() const;

 private:
  CLI::Option *list_option_ = nullptr;
  std::optional<std::string> list_, service_, service_owner_;
  bool require_ = false;
};

// "the CPU", or the device that did the most.
std::string who_worked(const Context &context);

}  // namespace lanecrypt::cli
