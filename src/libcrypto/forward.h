// The libcrypto of the process, without linking to it.
//
// The library and the provider are built against OpenSSL 3.0 and run in processes whose libcrypto
// is libcrypto.so.3 or libcrypto.so.4. A link dependency on either name would load a second
// libcrypto into the other processes. So nothing links with -lcrypto: forward.cpp defines every
// function of functions.inc under its own name, hidden, and forwards the call to the bound
// libcrypto. Source that includes <openssl/evp.h> then reads as any OpenSSL code. A function that
// is missing from functions.inc is an error of the linker.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/status.h"

namespace lanecrypt {

// bind_libcrypto_of() binds the libcrypto that contains `address`, for example a function that the
// loading core passed to OSSL_provider_init(). It fails if another libcrypto is bound already, or
// if this one does not export all functions. Thread-safe, may be called repeatedly, also after
// fork().
Status bind_libcrypto_of(const void *address);

// bind_libcrypto_of_process() binds the libcrypto that the process has loaded, under any name, or
// loads the system's if there is none. A libcrypto that is bound already stays bound. The first
// call of a forwarding function does this automatically. If no libcrypto is found, the forwarding
// function returns its failure value.
Status bind_libcrypto_of_process();

// libcrypto_exports() says whether the bound libcrypto exports a function. Some builds lack an
// algorithm, for example SM4, and all its functions.
bool libcrypto_exports(const char *name);

// libcrypto_is_ending() says whether the bound libcrypto has begun its cleanup at the end of the
// process. Its default library context is then being freed, so a library context or a provider must
// no longer be freed. Objects such as keys and operation contexts may be: a program may free them
// at any time.
bool libcrypto_is_ending();

// begin_libcrypto() makes libcrypto, if there is one, register its exit handler now, as its first
// use in most programs does.
void begin_libcrypto();

}  // namespace lanecrypt
