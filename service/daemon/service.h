// The state that all threads of the service share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "lanecrypt/lanecrypt.h"
#include "service/daemon/client/channel_threads.h"
#include "service/daemon/client/releases.h"
#include "service/daemon/client/user.h"
#include "service/daemon/report/counters.h"
#include "service/daemon/report/page.h"
#include "service/daemon/work/devices.h"
#include "service/daemon/work/key_checks.h"
#include "service/daemon/work/library_keys.h"
#include "service/daemon/work/operations.h"
#include "service/daemon/work/searches.h"

namespace lanecrypt::service::daemon {

struct Service {
  // `descriptors`: the most descriptors of the process. Throws Failure.
  Service(const char *devices, lc_verify verify, size_t descriptors);
  // All sessions must have ended.
  ~Service() = default;

  const std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  // The most descriptors for clients; and how many descriptors and sessions there are now.
  const size_t most_descriptors;
  std::atomic<size_t> descriptors = 0, sessions = 0;
  std::atomic<size_t> key_bytes = 0;  // memory of all users' keys
  // Takes `count` descriptors for a user, or none. Called by the main thread.
  DescriptorQuota take_descriptors(User &user, size_t count);

  Page page;
  Counters counters;
  LibraryKeys library_keys;
  Operations operations;
  // The checks of SLH-DSA keys wait for a device, so they have their own queue and threads, and
  // others do not wait for them.
  KeyChecks key_checks, root_checks;
  KeyChecks &checks_of(Family family) {
    return family == Family::kSlhDsa ? root_checks : key_checks;
  }
  Searches searches;
  Releases releases;
  ChannelThreads channel_threads;
  // Destroyed first: its threads use the members above.
  Devices devices;

  struct Told {
    std::function<void()> on_tried;  // the devices are open, or could not be opened
    std::function<void()> on_lost;   // no device works any more, because one was lost
  };
  // Starts all threads. They call the functions of `told`.
  void start(Told told);
};

}  // namespace lanecrypt::service::daemon
