// The libcrypto of the process, without linking it.
//
// The library and the provider are built against OpenSSL 3.0 and run in
// processes whose libcrypto is libcrypto.so.3 or libcrypto.so.4. A link
// dependency on either name would pull a second libcrypto into the others. So
// nothing links -lcrypto: forward.cpp defines every function of functions.h
// under its own name, hidden, and passes the call on to the libcrypto that was
// bound. Source that includes <openssl/evp.h> then reads as any OpenSSL code;
// a function that is missing from functions.h is an error of the linker.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/status.h"

namespace lanecrypt {

// Binds the libcrypto that holds `address`, such as a function that the loading core
// handed to OSSL_provider_init(). It is an error if another libcrypto is bound already,
// or if this one does not export its functions. Any thread may call it, any number of
// times, also after fork().
Status bind_libcrypto_of(const void *address);

// Binds the libcrypto that the process has loaded, under any name, or loads the system's
// where there is none. A libcrypto that is bound already stays. The first call of a
// forwarding function does this by itself. If that finds no libcrypto, the function
// returns what it returns on failure.
Status bind_libcrypto_of_process();

// Whether the bound libcrypto exports a function: some were built without SM4, say, and have
// none of its functions.
bool libcrypto_exports(const char *name);

// Whether the bound libcrypto has begun to clean up for the end of the process. Its default library
// context is going or gone then, so a library context or a provider must no longer be freed.
// Objects such as keys and contexts may be: a program may free them at any time.
bool libcrypto_is_ending();

// Makes libcrypto, if there is one, arrange now what it does at the end of the process,
// as its first use in most programs does.
void begin_libcrypto();

}  // namespace lanecrypt
