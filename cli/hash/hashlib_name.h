// The names that Python's hashlib has for hashes. The command takes them beside its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

namespace lanecrypt::cli {

// hashlib_name("sha3-256") is "sha3_256", and hashlib_name("shake128") is "shake_128".
inline std::string hashlib_name(std::string name) {
  const std::string shake = "shake";
  if (name.starts_with(shake)) name.insert(shake.size(), "_");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace lanecrypt::cli
