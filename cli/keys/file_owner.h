// Who else can get at a file or folder that keys lie in.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string>

namespace lanecrypt::cli {

inline constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;
inline constexpr mode_t kOthersMayRead = S_IRGRP | S_IROTH;

// Why keys may not lie in an entry like this, or "": it is not the effective user's, or has a right
// of `forbidden`. An access list with more than the three classes shows in the group's bits too.
std::string fault_of(const struct stat &entry, mode_t forbidden);

}  // namespace lanecrypt::cli
