// The provider's own library context: a child of the program's library context, which mirrors the
// program's providers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/crypto.h>

namespace lanecrypt::provider {

// new_child_library() creates a child library context for the provider that the core is loading. It
// returns nullptr if there is no memory. The caller frees it with OSSL_LIB_CTX_free(), which is
// safe even if the program has already freed its own library context: a program may do that before
// it frees the keys and contexts that it created there.
OSSL_LIB_CTX *new_child_library(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core);

}  // namespace lanecrypt::provider
