// Finds the OpenSSL provider gpu.so and quotes paths for openssl.cnf.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanecrypt::cli {

// Returns the path of the gpu.so that was built or installed with this command; "" if there is
// none.
std::string find_provider_module();

// Returns `text` in quotes as a value for openssl.cnf, where characters such as $ and # have a
// meaning.
std::string quoted_for_openssl(std::string_view text);

}  // namespace lanecrypt::cli
