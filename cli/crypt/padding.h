// PKCS #7 padding to whole blocks (RFC 5652, 6.3), as OpenSSL pads ECB and CBC.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace lanecrypt::cli {

// How many bytes (1 to 16) follow data of `data_bytes`; each has that value.
size_t padding_bytes(uint64_t data_bytes);

// How many bytes of padding the last block ends with; nothing if that is no padding. It
// takes the same time for every block, since a clock must not tell whether and where
// padding is wrong.
std::optional<size_t> read_padding(std::span<const uint8_t, 16> last_block);

}  // namespace lanecrypt::cli
