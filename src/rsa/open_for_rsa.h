// Opens a device for a part of RSA: for operations, or for the search for primes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "batch/open_for.h"
#include "rsa/rsa_launch.h"

namespace lanecrypt::runtime {

// As open_for(), with the arithmetic as an additional argument of the constructor of `Made`.
template <class Base, class Made>
Result<std::unique_ptr<Base>> open_for_rsa(const device::Found &found, const DeviceTrust &trust) {
  RsaArithmetic arithmetic = {};
  if (found.properties.unusable.empty()) {
    Result<RsaArithmetic> chosen = choose_rsa_arithmetic(found.properties);
    if (!chosen.ok()) return with_device_id(found.properties, chosen.status());
    arithmetic = *chosen;
  }
  return open_for<Base, Made>(device::KernelSet::kRsa, found, trust, arithmetic);
}

}  // namespace lanecrypt::runtime
