// What CUDA's driver knows of an address and of a stream. Where this process has not loaded the
// driver, that is nothing: this does not load it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace lanecrypt::python::cuda {

// The number of the device that the memory at the address is of. Nothing where the driver does not
// know it.
std::optional<int> ordinal_of(const void *address);

// Whether a stream, by its handle in a context of the calling thread's, is being captured in a CUDA
// graph, or is the legacy default stream while another one is, which would then wait for it.
// Nothing where the driver cannot tell.
std::optional<bool> is_captured(uintptr_t stream);

}  // namespace lanecrypt::python::cuda
