// The kernels that belong to no block cipher: GHASH, Poly1305, ChaCha20, tags, segments.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/aead/aead_check.h"
#include "kernels/aead/aead_segments.h"
#include "kernels/aead/aead_segments_aad.h"
#include "kernels/aead/chacha20_poly1305_short.h"
#include "kernels/aead/ghash.h"
#include "kernels/aead/graph_update.h"
#include "kernels/aead/plain_segments.h"
#include "kernels/aead/poly1305.h"
#ifdef HAS_WARP_SHUFFLE
#include "kernels/aead/chacha20_plain_unaligned.h"
#endif
#ifdef LC_BIT_MATRIX_KERNELS
#include "kernels/aead/ghash_matrix.h"
#include "kernels/aead/poly1305_matrix.h"
#endif
