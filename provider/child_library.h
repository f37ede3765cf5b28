// Our library context, a child of the program's: it mirrors the program's providers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/crypto.h>

namespace lanecrypt::provider {

// Makes one for the provider that the core is loading. nullptr if there is no memory.
// OSSL_LIB_CTX_free() frees it, also if the program has freed its own context before: a program
// may free that before the keys and contexts that it made there.
OSSL_LIB_CTX *new_child_library(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core);

}  // namespace lanecrypt::provider
