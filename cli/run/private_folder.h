// The folder of one `lanecrypt run`: its service's socket and its openssl.cnf.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lanecrypt::cli {

// Makes a folder that only its user can enter: in /run if that is root, otherwise in
// XDG_RUNTIME_DIR, in XDG_STATE_HOME or ~/.local/state, or, if there is none of these, in TMPDIR or
// /tmp. Folders in which others could exchange ours are passed over. Throws Failure.
std::string make_private_folder();

// Removes all that is in the folder, and the folder itself if nobody else may write to its parent.
// Otherwise, as in /tmp, it stays: processes that the program left behind go on to have its path in
// OPENSSL_CONF, and another user could make it again.
void clear_private_folder(const std::string &folder);

}  // namespace lanecrypt::cli
