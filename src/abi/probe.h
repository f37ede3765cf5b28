// What lanecrypt-probe runs: no part of the public C ABI.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lanecrypt/lanecrypt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The words of the command line: "look API" prints the devices of an API, and "measure
 * ID" what a device takes, as device/device_enumeration.h and placement/calibration.h read them.
 * Returns the status of the process, which ends itself where a driver hangs. */
LC_API int lc_probe(int count, const char *const *words);

#ifdef __cplusplus
}
#endif
