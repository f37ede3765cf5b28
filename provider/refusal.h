// Failures that raise an error as OpenSSL's own providers do.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/err.h>
#include <openssl/proverr.h>

namespace lanecrypt::provider {

// refuse() raises PROV_R_... or ERR_R_..., and returns false.
inline bool refuse(int reason) {
  ERR_raise(ERR_LIB_PROV, reason);
  return false;
}
// refuse_without_memory() does the same with ERR_R_MALLOC_FAILURE.
inline bool refuse_without_memory() { return refuse(ERR_R_MALLOC_FAILURE); }

// say_why() raises `reason` if no error was raised since `before`, the result of
// ERR_peek_last_error() before the call. It follows calls of the default provider that may fail
// without raising an error.
inline void say_why(unsigned long before, int reason) {
  if (ERR_peek_last_error() == before) (void)refuse(reason);
}

// or_refuse() returns `made`, a new object. If it is nullptr, it raises ERR_R_MALLOC_FAILURE first.
template <typename T>
T *or_refuse(T *made) {
  if (made == nullptr) (void)refuse_without_memory();
  return made;
}

}  // namespace lanecrypt::provider
