/*
 * Lanecrypt: block ciphers, ChaCha20, hashes, RSA, SLH-DSA and ML-DSA on graphics processors, in
 * bulk. This header includes the whole public C ABI. core.h has the rules for all calls: threads,
 * errors, struct sizes, fork.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LANECRYPT_LANECRYPT_H
#define LANECRYPT_LANECRYPT_H

#include "lanecrypt/cipher.h"
#include "lanecrypt/core.h"
#include "lanecrypt/graph.h"
#include "lanecrypt/hash.h"
#include "lanecrypt/job.h"
#include "lanecrypt/lanecrypt_0_1.h"
#include "lanecrypt/memory.h"
#include "lanecrypt/ml_dsa.h"
#include "lanecrypt/placement.h"
#include "lanecrypt/rsa.h"
#include "lanecrypt/segments.h"
#include "lanecrypt/slh_dsa.h"

#endif
