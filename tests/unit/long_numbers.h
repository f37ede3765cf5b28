// OpenSSL's long numbers, to compute anew what is tested.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/bn.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lanecrypt::test {

using Bytes = std::vector<uint8_t>;
using Bn = std::unique_ptr<BIGNUM, decltype(&BN_free)>;

inline Bn bn(BIGNUM *number = nullptr) { return {number == nullptr ? BN_new() : number, &BN_free}; }

inline Bn bn_of(std::span<const uint8_t> bytes) {
  return bn(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
}

// Big-endian, with zeros before it where it is shorter than `least`.
inline Bytes bytes_of(const BIGNUM *number, size_t least = 0) {
  Bytes bytes(std::max<size_t>(BN_num_bytes(number), least));
  BN_bn2binpad(number, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

// 2^bits + add.
inline Bn power_of_two(int bits, int add = 0) {
  Bn number = bn();
  BN_set_bit(number.get(), bits);
  add < 0 ? BN_sub_word(number.get(), static_cast<BN_ULONG>(-add))
          : BN_add_word(number.get(), static_cast<BN_ULONG>(add));
  return number;
}

inline bool is_prime(const BIGNUM *number) {
  BN_CTX *context = BN_CTX_new();
  const bool is = BN_check_prime(number, context, nullptr) == 1;
  BN_CTX_free(context);
  return is;
}

}  // namespace lanecrypt::test
