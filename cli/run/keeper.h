// The keeper: the process that runs a private service while its program runs.
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
  const PrivateFolder &folder;         // the folder that the keeper clears at the end
  std::string program;                 // lanecryptd
  std::vector<std::string> arguments;  // the service's arguments, without the descriptors, which
                                       // the keeper adds
  const WatchedProcess &process;       // the process whose end the keeper waits for
  int ready;                           // descriptor on which the service reports that it is ready
  sigset_t signals;                    // the signal mask of the service
};

// Runs the keeper. The process must have been forked for it, with one thread and all signals
// blocked. Starts the service, waits until `process` has ended, stops the service, clears the
// folder and exits.
[[noreturn]] void keep_service(const KeeperTask &task);

}  // namespace lanecrypt::cli
