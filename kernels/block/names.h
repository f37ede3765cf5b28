// How the functions and kernels of a cipher in a form are named: CIPHER_FORM_NAME,
// by the macros BLOCK_CIPHER and BLOCK_FORM as they are where a name is used.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define BLOCK_JOIN_NAMES(cipher, form, name) cipher##_##form##_##name
#define BLOCK_NAME_OF(cipher, form, name) BLOCK_JOIN_NAMES(cipher, form, name)
#define BLOCK_NAME(name) BLOCK_NAME_OF(BLOCK_CIPHER, BLOCK_FORM, name)
