// An on-disk cache of data that can be computed again, in a folder of
// ${XDG_CACHE_HOME:-~/.cache}/lanecrypt. A compiled program from there runs on a device with the
// keys of the process, so only files are read that no other user can have written. If anything is
// wrong with the cache, it is not used.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace lanecrypt::cache {

// load() returns what is stored under `key`, if it is complete and undamaged.
std::optional<std::string> load(const char *folder, const std::string &key);

// store() replaces the entry atomically: readers see the old file, the new one, or none. It reports
// no failure.
void store(const char *folder, const std::string &key, const std::string &content);

}  // namespace lanecrypt::cache
