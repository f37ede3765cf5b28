// The service of one `lanecrypt run`. It belongs to this process, and to the program that
// this process becomes.
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
  PrivateFolder folder;  // with its socket and its log
  FileDescriptor ready;

  std::string socket() const { return folder.path + "/socket"; }
};

// Makes a folder, and has `program` (lanecryptd, with these arguments) start in it. A keeper,
// which is no child of this process, ends the service and clears the folder when this process
// has ended, however that comes about. If the keeper is killed, the service ends. Neither is
// in this process's group and session, nor has it a descriptor of this process's. Throws
// Failure.
PrivateService start_private_service(const std::string &program,
                                     const std::vector<std::string> &arguments);

// Waits until the service listens and has opened its devices, or failed to. If it cannot start
// at all, says on standard error what it said, and throws Failure.
void wait_until_ready(const PrivateService &service);

}  // namespace lanecrypt::cli
