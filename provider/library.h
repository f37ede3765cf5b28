// liblanecrypt, loaded when a request first may gain by it. Most programs that load the
// provider never have such a request, and should start and end as if there were no
// library.
// Our source calls the functions of lanecrypt.h as usual. library.cpp defines those that
// library_functions.inc lists, and passes the calls on. None of them loads the library: if
// load_library() was not called, or failed, each returns what says so.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::provider {

// Loads, once, the library that lies where gpu.so looks for it. False if it cannot be
// loaded, or is of another version. Any thread.
bool load_library();

}  // namespace lanecrypt::provider
