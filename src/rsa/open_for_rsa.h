// How a device is opened for RSA, whatever it then does of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "rsa/rsa_launch.h"
#include "thread/stuck.h"

namespace lanecrypt::schedule {

// A `Made`, of an open device and its arithmetic, once it has opened itself; it
// goes on as its `Base`. An error names the device.
template <class Base, class Made>
Result<std::unique_ptr<Base>> open_for_rsa(const device::Found &found, const RsaTrust &trust) {
  const auto told = [&](const Status &status) {
    return Status(status.code(), found.properties.id + ": " + status.text());
  };
  if (!found.properties.unusable.empty())
    return told(Status(LC_ERROR_NO_DEVICE, found.properties.unusable));
  Result<RsaArithmetic> arithmetic = choose_rsa_arithmetic(found.properties);
  if (!arithmetic.ok()) return told(arithmetic.status());
  Result<std::unique_ptr<device::Device>> device = found.open(device::KernelSet::kRsa);
  if (!device.ok()) return told(device.status());
  auto made = std::make_unique<Made>(std::move(*device), *arithmetic, trust);
  if (const Status status = made->open(); !status.ok()) {
    if (made->is_stuck()) keep_for_ever(std::move(made));
    return told(status);
  }
  return std::unique_ptr<Base>(std::move(made));
}

}  // namespace lanecrypt::schedule
