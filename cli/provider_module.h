// The provider's module gpu.so, and how a configuration of OpenSSL's names it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanecrypt::cli {

// The module gpu.so that was built or installed with this command; "" if there is none.
std::string find_provider_module();

// The text as a value in openssl.cnf, where $, # and others have a meaning.
std::string quoted_for_openssl(std::string_view text);

}  // namespace lanecrypt::cli
