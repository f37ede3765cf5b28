// Every kernel of ciphers, for a target that compiles them all from one source.
// OpenCL compiles each of these files apart, when a device first needs it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "all_common.h"

#include "all_aes.h"
#include "all_aria.h"
#include "all_camellia.h"
#include "all_sm4.h"
