// PKCS #7 padding to whole blocks (RFC 5652, section 6.3), as OpenSSL pads ECB and CBC.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace lanecrypt::cli {

// Returns how many padding bytes (1 to 16) follow data of `data_bytes`. Each byte has that value.
size_t padding_bytes(uint64_t data_bytes);

// Returns how many bytes of padding `last_block` ends with, or nothing if the padding is wrong.
// Runs in constant time, so that timing does not reveal whether and where the padding is wrong.
std::optional<size_t> read_padding(std::span<const uint8_t, 16> last_block);

}  // namespace lanecrypt::cli
