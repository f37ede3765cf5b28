// The name of this machine's CPU, for the results of benchmarks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>

namespace lanecrypt::bench {

inline std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      if (const size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "unknown";
}

}  // namespace lanecrypt::bench
