// What the service asks of an RSA key before it serves it: no part of the public C ABI.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lanecrypt/lanecrypt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether p and q of a private key pass a few rounds of the test of Miller and Rabin with random
 * bases, fewer for longer keys: 1 or 0; -1 if that could not be tested. A key that is made for it
 * may pass, so nothing may depend on the answer alone. Any thread. */
LC_API int lc_rsa_key_has_primes(const lc_rsa_key *key);

#ifdef __cplusplus
}
#endif
