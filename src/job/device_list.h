// Parses a list of devices as in lc_options.devices and the provider's setting: "cuda:0,opencl",
// "none", or "" for an automatic choice.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "job/status.h"

namespace lanecrypt {

// Returns the names, without surrounding spaces.
std::vector<std::string> split_device_list(const std::string &list);

// Returns LC_ERROR_ARGUMENT if `list` is not a list of names. The text begins with `subject`, the
// source of the list, such as "the setting devices =".
Status check_device_list(const std::string &list, const std::string &subject);

// Returns the APIs that the list names, each once; no other is to be loaded. For "", returns all.
std::vector<std::string> apis_of_device_list(const std::string &list);

}  // namespace lanecrypt
