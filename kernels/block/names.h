// The names of a cipher's functions and kernels in one form: BLOCK_NAME(name) is CIPHER_FORM_name,
// from the values that BLOCK_CIPHER and BLOCK_FORM have where it is used.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define BLOCK_JOIN_NAMES(cipher, form, name) cipher##_##form##_##name
#define BLOCK_NAME_OF(cipher, form, name) BLOCK_JOIN_NAMES(cipher, form, name)
#define BLOCK_NAME(name) BLOCK_NAME_OF(BLOCK_CIPHER, BLOCK_FORM, name)
