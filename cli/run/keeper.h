// The process that keeps a private service while its program runs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <string>
#include <vector>

#include "cli/run/private_folder.h"
#include "cli/run/process_end.h"

namespace lanecrypt::cli {

struct KeeperTask {
  const PrivateFolder &folder;         // which it clears at the end
  std::string program;                 // lanecryptd
  std::vector<std::string> arguments;  // without the descriptors, which the keeper adds
  const WatchedProcess &process;       // for whose end it waits
  int ready;                           // where the service says that it is ready
  sigset_t signals;                    // which the service has blocked
};

// The rest of the life of a process that was forked for this and has one thread and all signals
// blocked. Starts the service, waits for the end of the process, ends the service and clears
// the folder.
[[noreturn]] void keep_service(const KeeperTask &task);

}  // namespace lanecrypt::cli
