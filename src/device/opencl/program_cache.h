// Compiled programs on disk, in ${XDG_CACHE_HOME:-~/.cache}/lanecrypt/opencl.
// A binary from there runs on the device with the keys of the process: only
// files that nobody but this user can have written are read. Whatever is wrong
// with the cache, there is simply no cache.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace lanecrypt::device::opencl {

// The binary stored under this key, whole and undamaged.
std::optional<std::string> load_cached_program(const std::string &key);

// Stores it, atomically: readers see the old file, the new one, or none.
void store_cached_program(const std::string &key, const std::string &binary);

}  // namespace lanecrypt::device::opencl
