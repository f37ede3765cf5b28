// How many tasks of the machine want to run.
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
  // Of the whole machine, with the one that asks. nullopt where the system does not tell.
  std::optional<uint32_t> count() const;
  // In the form of /proc/loadavg: "0.20 0.18 0.12 3/417 11206".
  static std::optional<uint32_t> parse(std::string_view text);

 private:
  Descriptor file_;
};

}  // namespace lanecrypt::service::daemon
