// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/client/refusals.h"

#include <fmt/format.h>

#include <new>
#include <string>

#include "service/daemon/log.h"

namespace lanecrypt::service::daemon {

void Refusals::add(std::optional<uid_t> user, std::string_view what,
                   std::chrono::steady_clock::time_point now) {
  ++count_;
  if (!lines_.take(now)) {
    ++left_out_;
    return;
  }
  try {
    const std::string who = user ? fmt::format("user {}", *user) : "somebody";
    const std::string others =
        left_out_ == 0 ? "" : fmt::format(" (and {} more before)", left_out_);
    say(fmt::format("turned away: {} {}{}", who, what, others));
    left_out_ = 0;
  } catch (const std::bad_alloc &) {
    ++left_out_;
  }
}

}  // namespace lanecrypt::service::daemon
