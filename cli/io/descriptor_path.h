// Paths that name an open file descriptor, such as /dev/stdout and /dev/fd/3.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace lanecrypt::cli {

// An entry of /proc/PID/fd that a path leads to.
struct DescriptorPath {
  // The number of the descriptor, if it belongs to this process. Not set if it belongs to another
  // process.
  std::optional<int> own;
  // Whether all symbolic links before that entry belong to root.
  bool is_safe;
};

// Follows the symbolic links of `path`. Returns nothing if they do not lead to an entry of
// /proc/PID/fd.
std::optional<DescriptorPath> find_descriptor(std::string path);

// Returns whether the descriptor is open without FD_CLOEXEC: the process inherited it, or made it
// for other programs. The command sets FD_CLOEXEC on everything that it opens for itself.
bool is_inherited(int descriptor);

}  // namespace lanecrypt::cli
