// lanecrypt-probe: lists the devices of one driver, or measures one device, in a separate process,
// so that the caller's process does not load the driver. Not a user command: users run `lanecrypt
// devices`.
//
// SPDX-License-Identifier: Apache-2.0
#include "abi/probe.h"

int main(int count, char **words) { return lc_probe(count - 1, words + 1); }
