// Checks whether other users could replace the contents of a folder.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

namespace lanecrypt::process {

// fault_of_folder() returns "" if no user except `owners` can replace what one of them has in
// `folder`, an absolute path. Otherwise it returns the reason. The following must hold for the
// folder, for all folders above it up to the root, and for each symbolic link on the way:
// - It belongs to one of `owners`.
// - Others may write to a folder only if it is sticky, as /tmp is. There they can neither rename
//   nor remove the files of other users, but can take the name of a file that its owner has
//   removed.
// If this holds, it continues to hold until one of `owners` changes something.
std::string fault_of_folder(const std::string &folder, std::span<const uid_t> owners);

// make_folders() creates `folder`, an absolute path, and the folders above it, if they do not
// exist, with access for this user only. It creates none in a folder in which users other than
// `owners` could replace it. It returns whether something exists at the path; fault_of_folder()
// says whether that can be trusted.
bool make_folders(const std::string &folder, std::span<const uid_t> owners);

}  // namespace lanecrypt::process
