// The private service of one `lanecrypt run`. It serves this process and the program that this
// process executes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/io/file_descriptor.h"
#include "cli/run/private_folder.h"

namespace lanecrypt::cli {

// A service that is starting.
struct PrivateService {
  PrivateFolder folder;  // contains the socket and the log
  FileDescriptor ready;

  std::string socket() const { return folder.path + "/socket"; }
};

// Creates a private folder and starts `program` (lanecryptd, with `arguments`) in it. A keeper
// process, which is not a child of this process, stops the service and clears the folder when this
// process has ended for whatever reason. If the keeper is killed, the service stops. Both are
// outside this process's group and session, and hold none of its descriptors. Throws Failure.
PrivateService start_private_service(const std::string &program,
                                     const std::vector<std::string> &arguments);

// Waits until the service listens and has opened its devices or failed to. If it cannot start,
// prints its log on standard error and throws Failure.
void wait_until_ready(const PrivateService &service);

}  // namespace lanecrypt::cli
