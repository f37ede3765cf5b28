// Loads liblanecrypt when a request may first gain from it. Most programs that load the provider
// never make such a request, and should start and end as if there were no library.
// The provider's source calls the functions of lanecrypt.h as usual. library.cpp defines those that
// library_functions.inc lists, and forwards the calls. None of them loads the library. If
// load_library() was not called or failed, each returns the failure value that the list gives.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lanecrypt::provider {

// load_library() loads, once, the library that lies where gpu.so looks for it. It returns false if
// the library cannot be loaded or has another version. Thread-safe.
bool load_library();

}  // namespace lanecrypt::provider
