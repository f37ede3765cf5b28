// Whether other users could exchange what is in a folder.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

namespace lanecrypt::process {

// Returns "" if nobody but `owners` can put something else in the place of what one of them has in
// `folder`, an absolute path. Otherwise returns the reason. The rule holds for the folder, for all
// folders above it up to the root, and for each symbolic link on the way:
// - It belongs to one of `owners`.
// - Others may write to a folder only if it is sticky, as /tmp is. There they can neither rename
// nor
//   remove what is not theirs, but can take the name of what its owner has removed.
// If the rule holds, it goes on to hold until one of `owners` changes something.
std::string fault_of_folder(const std::string &folder, std::span<const uid_t> owners);

// Makes `folder`, an absolute path, and the folders above it, for this user alone, as far as they
// are not there. Makes none in a folder in which others than `owners` could exchange it. Returns
// whether something is at the path: fault_of_folder() says whether that can be trusted.
bool make_folders(const std::string &folder, std::span<const uid_t> owners);

}  // namespace lanecrypt::process
