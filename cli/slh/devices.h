// On which devices a run of `lanecrypt slh-dsa` works: the options for it, and what it says of
// that in the end.
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
  // Throws Error.
  Context open() const;

 private:
  std::optional<std::string> list_;
  bool require_ = false;
};

// "the CPU", or the device that did the most.
std::string who_worked(const Context &context);

}  // namespace lanecrypt::cli
