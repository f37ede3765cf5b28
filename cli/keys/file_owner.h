// Checks whether other users can access a file or folder with keys.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string>

namespace lanecrypt::cli {

inline constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;
inline constexpr mode_t kOthersMayRead = S_IRGRP | S_IROTH;

// Returns why keys may not be in the file or folder `entry`, or "": it does not belong to the
// effective user, or has a permission bit of `forbidden`. An ACL with further entries appears in
// the group bits too.
std::string fault_of(const struct stat &entry, mode_t forbidden);

}  // namespace lanecrypt::cli
