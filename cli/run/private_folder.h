// The private folder of one `lanecrypt run`, with its service's socket and its openssl.cnf.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/io/file_descriptor.h"

namespace lanecrypt::cli {

// A folder that was created. The descriptor refers to it even if the path later names another one.
struct PrivateFolder {
  std::string path;
  FileDescriptor descriptor;
};

// Creates a folder that only its user can enter: in /run for root, otherwise in XDG_RUNTIME_DIR, in
// XDG_STATE_HOME or ~/.local/state, or, if none of these can be used, in TMPDIR or /tmp. Skips a
// parent in which others could replace the folder. Throws Failure.
PrivateFolder make_private_folder();

// Removes everything in the folder. Removes the folder too if nobody else may write to its parent.
// Otherwise, as in /tmp, the folder stays: processes that the program left running still have its
// path in OPENSSL_CONF, and another user could create it again. Follows no symbolic link.
// `descriptor` and `path` are the folder's; `path` gives its name in its parent.
void clear_private_folder(int descriptor, const std::string &path);

}  // namespace lanecrypt::cli
