// Reads the flags that the kernel reports for a mapping of this process.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace lanecrypt::test {

// Returns the flags of the mapping that holds `address`, such as " lo " for locked (proc(5)), or ""
// if the kernel reports none.
inline std::string flags_of(const void *address) {
  std::ifstream maps("/proc/self/smaps");
  bool is_inside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t first = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &first, &end) == 2)
      is_inside = uintptr_t(address) >= first && uintptr_t(address) < end;
    if (is_inside && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

}  // namespace lanecrypt::test
