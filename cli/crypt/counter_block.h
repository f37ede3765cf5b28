// The 128-bit counter of CTR mode (SP 800-38A, 6.5 and B.1).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace lanecrypt::cli {

using Block = std::array<uint8_t, 16>;

// `counter` plus `blocks`, big-endian over all 128 bits, modulo 2^128.
Block advance_counter(const Block &counter, uint64_t blocks);

}  // namespace lanecrypt::cli
