// Where a request runs, as it was decided.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt {

struct Placement {
  // LC_CHOICE_CPU: its caller's own core, by OpenSSL. LC_CHOICE_UNKNOWN: nothing tells, or there
  // is none.
  lc_choice choice = LC_CHOICE_UNKNOWN;
  // What lc_cipher_job.device is for it: a device, LC_ANY_DEVICE where any may do it or all
  // that are selected share it, LC_CPU where no device does it.
  uint32_t device = LC_CPU;
};

}  // namespace lanecrypt
