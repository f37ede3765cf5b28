// The check that the service makes of an RSA key before it accepts it. It is not part of the public
// C ABI.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lanecrypt/lanecrypt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* lc_rsa_key_has_primes() returns 1 if p and q of a private key pass a few rounds of the
 * Miller-Rabin test with random bases, fewer for longer keys, 0 if they do not, and -1 if that
 * could not be tested. A key that is constructed for it may pass, so nothing may depend on the
 * result alone. Thread-safe. */
LC_API int lc_rsa_key_has_primes(const lc_rsa_key *key);

#ifdef __cplusplus
}
#endif
