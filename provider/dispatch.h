// The functions of the provider that libcrypto calls: entries of OSSL_DISPATCH, and callbacks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "process/c_function.h"

namespace lanecrypt::provider {

// The type of OSSL_DISPATCH::function, whatever the function is.
using Function = void (*)();

// Raises what an exception says as an error of OpenSSL's. Want of memory becomes
// ERR_R_MALLOC_FAILURE.
void raise_exception(const std::exception &error) noexcept;

// `kFunction` for a dispatch table, or as a callback of libcrypto's. If it throws, it fails with an
// error raised.
template <auto kFunction>
inline constexpr auto called_from_c = process::c_function<kFunction, raise_exception>;

}  // namespace lanecrypt::provider
