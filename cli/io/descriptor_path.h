// Paths that name an open file descriptor, such as /dev/stdout and /dev/fd/3.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace lanecrypt::cli {

// An entry of /proc/PID/fd, to which a path leads.
struct DescriptorPath {
  // Its number, if it is a descriptor of this process. Otherwise it is another process's.
  std::optional<int> own;
  // Whether only the system's own symbolic links and the user's processes were on the way.
  bool is_safe;
};

// Nothing if the path leads to a file by its name, or nowhere.
std::optional<DescriptorPath> find_descriptor(std::string path);

// Whether this process was started with the descriptor, or has made it for others. What it opens
// for itself is closed on exec.
bool is_inherited(int descriptor);

}  // namespace lanecrypt::cli
