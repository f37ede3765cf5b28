// PEM (RFC 7468): DER as text between two lines that name it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

// As openssl writes it. label: such as "PRIVATE KEY".
SecretBytes pem_of(std::string_view label, const SecretBytes &der);

struct PemBlock {
  std::string label;
  SecretBytes der;
};
// The first block of a text that has one of these labels, in the lax form of RFC 7468, section 3:
// there may be white space before and behind every line, and lines of any length, also empty ones.
// Other text may stand before and behind it. Without such a block, the label is empty.
PemBlock find_pem(const SecretBytes &text, const std::vector<std::string_view> &labels);

}  // namespace lanecrypt::cli
