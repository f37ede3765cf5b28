// The header of a file of openssl enc: "Salted__" and eight bytes of salt. A file has it if the key
// was derived from a passphrase with a random salt (not with -S).
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

// Reads the header from the input. Throws Failure (kBadData) if the input is too short or begins
// otherwise.
Salt read_salted_header(Input &input);

}  // namespace lanecrypt::cli
