// Queries CUDA's driver about addresses and streams. Does not load the driver: if the process has
// not loaded it, the functions return nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace lanecrypt::python::cuda {

// Returns the ordinal of the device whose memory contains the address. Nothing if the driver does
// not know the address.
std::optional<int> ordinal_of(const void *address);

// Returns whether a stream is being captured into a CUDA graph, or is the legacy default stream
// while another stream is being captured, which would then wait for it. `stream` is a handle in a
// context of the calling thread. Nothing if the driver cannot tell.
std::optional<bool> is_captured(uintptr_t stream);

}  // namespace lanecrypt::python::cuda
