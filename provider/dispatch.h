// Wrappers for the provider's functions that libcrypto calls: entries of dispatch tables
// (OSSL_DISPATCH) and callbacks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "process/c_function.h"

namespace lanecrypt::provider {

// Function is the type of OSSL_DISPATCH::function.
using Function = void (*)();

// raise_exception() raises an exception's text as an error in OpenSSL's error queue. std::bad_alloc
// becomes ERR_R_MALLOC_FAILURE.
void raise_exception(const std::exception &error) noexcept;

// called_from_c wraps `kFunction` for a dispatch table or as a callback of libcrypto. If
// `kFunction` throws, the wrapper raises an error and returns failure.
template <auto kFunction>
inline constexpr auto called_from_c = process::c_function<kFunction, raise_exception>;

}  // namespace lanecrypt::provider
