// How a device is opened for a set of kernels, whatever is then done with it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "batch/device_trust.h"
#include "device/device.h"
#include "thread/stuck.h"

namespace lanecrypt::runtime {

// A `Made`, of an open device, `more` and the trust, which has proven itself; it goes on as
// its `Base`. An error names the device. What a `Made` has for this:
//   Status open()         makes what it needs of the device
//   Status self_test()    whether the device knows what is known (verify/self_test.h)
//   void begin_service()  its last step: from here on what it does is counted
//   bool is_stuck()       as BatchEngine has it
template <class Base, class Made, class... More>
Result<std::unique_ptr<Base>> open_for(device::KernelSet set, const device::Found &found,
                                       const DeviceTrust &trust, const More &...more) {
  if (!found.properties.unusable.empty())
    return with_device_id(found.properties, Status(LC_ERROR_NO_DEVICE, found.properties.unusable));
  Result<std::unique_ptr<device::Device>> device = found.open(set);
  if (!device.ok()) return with_device_id(found.properties, device.status());
  auto made = std::make_unique<Made>(std::move(*device), more..., trust);
  Status status = made->open();
  if (status.ok() && !trust.skip_self_test) status = made->self_test();
  if (!status.ok()) {
    if (made->is_stuck()) keep_for_ever(std::move(made));
    return with_device_id(found.properties, status);
  }
  made->begin_service();
  return std::unique_ptr<Base>(std::move(made));
}

}  // namespace lanecrypt::runtime
