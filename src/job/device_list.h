// A list of devices in words, as lc_options.devices and the provider's setting have it:
// "cuda:0,opencl", "none", or "" for a choice by itself.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "job/status.h"

namespace lanecrypt {

// The names, without the spaces around them.
std::vector<std::string> split_device_list(const std::string &list);

// LC_ERROR_ARGUMENT where it is no list of names. The text begins with `subject`, where the list
// comes from, such as "the setting devices =".
Status check_device_list(const std::string &list, const std::string &subject);

// Which APIs it is about, each once: no other is to be loaded. Of "" all.
std::vector<std::string> apis_of_device_list(const std::string &list);

}  // namespace lanecrypt
