// Counts the runnable tasks of the machine.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "service/daemon/system/descriptor.h"

namespace lanecrypt::service::daemon {

class RunnableTasks {
 public:
  RunnableTasks();
  // Returns the number of runnable tasks of the machine, with the calling one. nullopt if the
  // system does not report it.
  std::optional<uint32_t> count() const;
  // Parses the text of /proc/loadavg: "0.20 0.18 0.12 3/417 11206".
  static std::optional<uint32_t> parse(std::string_view text);

 private:
  Descriptor file_;
};

}  // namespace lanecrypt::service::daemon
