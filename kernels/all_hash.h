// Every kernel of the hash functions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/hash/blake3_messages.h"
#include "kernels/hash/keccak_messages.h"
#include "kernels/hash/sha256_deep.h"
#include "kernels/hash/trees.h"
