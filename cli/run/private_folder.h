// The folder of one `lanecrypt run`: its service's socket and its openssl.cnf.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lanecrypt::cli {

// Makes a folder that only its user can enter, in XDG_RUNTIME_DIR if that is the user's own,
// otherwise in TMPDIR, if others cannot move it away there, or in /tmp. Throws Failure.
std::string make_private_folder();

// Removes the folder with all that is in it, as far as that works.
void remove_private_folder(const std::string &folder);

}  // namespace lanecrypt::cli
