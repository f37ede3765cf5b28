// SPDX-License-Identifier: Apache-2.0
#include "cli/keys/file_owner.h"

#include <unistd.h>

namespace lanecrypt::cli {

std::string fault_of(const struct stat &entry, mode_t forbidden) {
  if (entry.st_uid != geteuid()) return "it belongs to another user";
  if ((entry.st_mode & forbidden & kOthersMayWrite) != 0) return "others can write to it";
  if ((entry.st_mode & forbidden & kOthersMayRead) != 0) return "others can read it";
  return "";
}

}  // namespace lanecrypt::cli
