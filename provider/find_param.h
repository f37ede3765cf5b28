// OSSL_PARAM_locate_const(), in place: a call of a context's parameters has one or two
// of them, and we ask after several, in the way of each message.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>

#include <cstring>

namespace lanecrypt::provider {

inline bool is_named(const OSSL_PARAM &param, const char *name) {
  return param.key[0] == name[0] && std::strcmp(param.key, name) == 0;
}

// The first of that name, or nullptr. `params` end as OpenSSL's do; nullptr has none.
template <typename Param>
inline Param *find_param(Param *params, const char *name) {
  if (params == nullptr) return nullptr;
  for (; params->key != nullptr; ++params)
    if (is_named(*params, name)) return params;
  return nullptr;
}

}  // namespace lanecrypt::provider
