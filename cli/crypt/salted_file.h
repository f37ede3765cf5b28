// The head of a file of openssl enc: "Salted__" and eight bytes of salt. A file has it if
// the key comes from a passphrase and the salt was not given in hexadecimal.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "cli/io/input.h"
#include "cli/keys/key_material.h"

namespace lanecrypt::cli {

constexpr size_t kSaltedHeaderBytes = 16;

std::array<uint8_t, kSaltedHeaderBytes> salted_header(const Salt &salt);

// Takes the head from the input. Throws Failure (kBadData) if it is too short or another.
Salt read_salted_header(Input &input);

}  // namespace lanecrypt::cli
