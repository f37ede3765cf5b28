// The function that lanecrypt-probe runs. It is not part of the public C ABI.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lanecrypt/lanecrypt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* lc_probe() runs the command in `words`, of which there are `count`: "look API" prints the devices
 * of an API, and "measure ID" the measured times of a device, in the formats that
 * device/device_enumeration.h and placement/calibration.h read. It returns the exit status of the
 * process, which ends itself if a driver hangs. */
LC_API int lc_probe(int count, const char *const *words);

#ifdef __cplusplus
}
#endif
