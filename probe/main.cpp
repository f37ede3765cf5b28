// lanecrypt-probe: asks one driver for its devices, or measures one device, for a
// process that does not want the driver in it. Not for people: `lanecrypt devices` is.
//
// SPDX-License-Identifier: Apache-2.0
#include "abi/probe.h"

int main(int count, char **words) { return lc_probe(count - 1, words + 1); }
