// SLH-DSA on one device: batches of signatures, verifications or new keys.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "batch/batch_engine.h"
#include "batch/device_trust.h"
#include "device/device.h"

namespace lanecrypt::runtime {

// Opens the device for SLH-DSA only, on the calling thread, and runs the known-answer self-test. An
// error says why the device cannot be used.
Result<std::unique_ptr<BatchEngine>> make_slh_engine(const device::Found &found,
                                                     const DeviceTrust &trust = {});

}  // namespace lanecrypt::runtime
