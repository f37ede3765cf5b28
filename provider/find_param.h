// OSSL_PARAM_locate_const() as inline code. EVP sets one or two parameters at a time, and the
// provider looks for several names with each message.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>

#include <cstddef>
#include <utility>

namespace lanecrypt::provider {

// is_equal() compares the bytes of `a` and `b` at the positions kAt, and stops at the first
// difference.
template <size_t... kAt>
inline bool is_equal(const char *a, const char *b, std::index_sequence<kAt...>) {
  return ((a[kAt] == b[kAt]) && ...);
}

// is_named() compares byte by byte, unrolled, because names are short and mostly differ early. A
// call would take longer.
template <size_t kSize>
inline bool is_named(const OSSL_PARAM &param, const char (&name)[kSize]) {
  return is_equal(param.key, name, std::make_index_sequence<kSize>());
}

// find_param() returns the first parameter with that name, or nullptr. `params` ends with
// OSSL_PARAM_END, or is nullptr for an empty list.
template <typename Param, size_t kSize>
inline Param *find_param(Param *params, const char (&name)[kSize]) {
  if (params == nullptr) return nullptr;
  for (; params->key != nullptr; ++params)
    if (is_named(*params, name)) return params;
  return nullptr;
}

}  // namespace lanecrypt::provider
