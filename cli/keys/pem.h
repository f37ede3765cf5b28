// Writes and reads PEM (RFC 7468).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

// Encodes `der` as openssl does. `label` is, for example, "PRIVATE KEY".
SecretBytes pem_of(std::string_view label, const SecretBytes &der);

struct PemBlock {
  std::string label;
  SecretBytes der;
};
// Returns the first block of `text` that has one of the labels, in the lax grammar of RFC 7468,
// section 3: there may be white space around every line, and lines of any length, including empty
// ones. Other text may precede and follow the block. If there is no such block, `label` is empty.
PemBlock find_pem(const SecretBytes &text, const std::vector<std::string_view> &labels);

}  // namespace lanecrypt::cli
