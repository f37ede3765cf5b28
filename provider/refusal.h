// A refusal that raises an error as OpenSSL's own providers do.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/err.h>
#include <openssl/proverr.h>

namespace lanecrypt::provider {

// Raises PROV_R_... or ERR_R_..., and returns false.
inline bool refuse(int reason) {
  ERR_raise(ERR_LIB_PROV, reason);
  return false;
}
inline bool refuse_without_memory() { return refuse(ERR_R_MALLOC_FAILURE); }

// For a refusal of the default provider's, some of which raise nothing: raises `reason` if no error
// was raised since `before`, which is ERR_peek_last_error() from before the call.
inline void say_why(unsigned long before, int reason) {
  if (ERR_peek_last_error() == before) (void)refuse(reason);
}

// A new object. nullptr, with an error raised, without memory.
template <typename T>
T *or_refuse(T *made) {
  if (made == nullptr) (void)refuse_without_memory();
  return made;
}

}  // namespace lanecrypt::provider
