// The decision where a request runs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt {

struct Placement {
  // LC_CHOICE_CPU: the caller's own core, by OpenSSL. LC_CHOICE_UNKNOWN: there is no decision.
  lc_choice choice = LC_CHOICE_UNKNOWN;
  // The value of lc_cipher_job.device for it: a device; LC_ANY_DEVICE if any device may do it or
  // all selected devices share it; LC_CPU if no device does it.
  uint32_t device = LC_CPU;
};

}  // namespace lanecrypt
