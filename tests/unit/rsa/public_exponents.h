// Public exponents for the tests of primes, big-endian.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanecrypt::test {

inline constexpr uint8_t kF4[] = {1, 0, 1};
// 3 * 5 * 7 * 65537.
inline constexpr uint8_t kComposite[] = {0x69, 0x00, 0x69};

}  // namespace lanecrypt::test
