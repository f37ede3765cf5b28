// What CUDA's driver knows of an address.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace lanecrypt::python::cuda {

// The number of the device that the memory at the address is of. Nothing where the driver does not
// know it, or where this process has not loaded the driver: this does not load it.
std::optional<int> ordinal_of(const void *address);

}  // namespace lanecrypt::python::cuda
