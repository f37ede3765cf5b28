// What can be made again, kept on disk in a folder of
// ${XDG_CACHE_HOME:-~/.cache}/lanecrypt. A compiled program from there runs on a device
// with the keys of the process, so only files are read that nobody but this user can have
// written. If anything is wrong with the cache, we do without it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace lanecrypt::cache {

// What is stored under this key, whole and undamaged.
std::optional<std::string> load(const char *folder, const std::string &key);

// Stores it atomically: readers see the old file, the new one, or none.
void store(const char *folder, const std::string &key, const std::string &content);

}  // namespace lanecrypt::cache
