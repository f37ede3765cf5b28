// RSA numbers in the form of OpenSSL's parameters.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace lanecrypt::provider {

// write_number() writes the unsigned number of `param`, which is in native byte order, big-endian
// to the `bytes` bytes at `to`, with leading zeros. It returns false if the number is longer.
inline bool write_number(const OSSL_PARAM &param, uint8_t *to, size_t bytes) {
  static_assert(std::endian::native == std::endian::little);
  const uint8_t *from = static_cast<const uint8_t *>(param.data);
  for (size_t at = bytes; at < param.data_size; ++at)
    if (from[at] != 0) return false;
  for (size_t at = 0; at < bytes; ++at) to[bytes - 1 - at] = at < param.data_size ? from[at] : 0;
  return true;
}

}  // namespace lanecrypt::provider
