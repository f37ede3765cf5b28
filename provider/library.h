// liblanecrypt, loaded when a request first may gain by it: most programs that load the
// provider never have one, and should start and end as if it were not there. Source that
// calls the functions of lanecrypt.h reads as any; library.cpp defines those that
// library_functions.h lists, and passes the calls on. None of them loads the library: each
// answers as its failure says where load_library() was not called, or failed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::provider {

// Loads the library that lies where gpu.so looks for it, once. False where it cannot be,
// or is of another version. Any thread.
bool load_library();

}  // namespace lanecrypt::provider
