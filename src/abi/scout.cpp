// SPDX-License-Identifier: Apache-2.0
#include "abi/scout.h"

#include <system_error>

#include "schedule/signals.h"

namespace lanecrypt {

Scout::Scout() {
  at_end_.begin([this] { end(); }, [] {});
}

void Scout::send(Errand errand) {
  if (stopped_ || is_away_.exchange(true)) return;
  std::lock_guard lock(mutex_);
  if (stopped_) return;
  if (thread_.joinable()) thread_.join();  // it is back
  const schedule::SignalsBlocked blocked;
  try {
    thread_ = std::thread([this, errand = std::move(errand)] {
      try {
        errand(stopped_);
      } catch (...) {  // want of memory or of threads
      }
      is_away_ = false;
    });
  } catch (const std::system_error &) {
    is_away_ = false;
  }
}

void Scout::end() {
  stopped_ = true;
  std::lock_guard lock(mutex_);
  if (thread_.joinable()) thread_.join();
}

}  // namespace lanecrypt
