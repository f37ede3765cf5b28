// The folder of one `lanecrypt run`: its service's socket and its openssl.cnf.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/io/file_descriptor.h"

namespace lanecrypt::cli {

// The descriptor stays with the folder that was made, whatever its path names later.
struct PrivateFolder {
  std::string path;
  FileDescriptor descriptor;
};

// Makes a folder that only its user can enter: in /run if that is root, otherwise in
// XDG_RUNTIME_DIR, in XDG_STATE_HOME or ~/.local/state, or, if there is none of these, in TMPDIR or
// /tmp. Folders in which others could exchange ours are passed over. Throws Failure.
PrivateFolder make_private_folder();

// Removes all that is in the folder, and the folder itself if nobody else may write to its parent.
// Otherwise, as in /tmp, it stays: processes that the program left behind go on to have its path in
// OPENSSL_CONF, and another user could make it again. Follows no link.
// `descriptor`: the folder's. `path`: the folder's, for its name in its parent.
void clear_private_folder(int descriptor, const std::string &path);

}  // namespace lanecrypt::cli
