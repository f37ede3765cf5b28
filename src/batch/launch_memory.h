// Memory for launches that come again and again: it grows as needed, and is reused.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "device/device.h"

namespace lanecrypt::runtime {

// The device's thread alone.
class LaunchMemory {
 public:
  explicit LaunchMemory(device::Device &device) : device_(device) {}

  // Makes it a buffer of at least `bytes`, whose content is lost where it grows. Of
  // kPinned, it is for secrets.
  Status grow(std::unique_ptr<device::Buffer> &buffer, device::MemoryKind kind, uint64_t bytes);
  // What grow() replaced stays until this: for where nothing is under way, since to
  // free memory may wait for all that a device does, and that might be stuck.
  void free_outgrown();

 private:
  device::Device &device_;
  std::vector<std::unique_ptr<device::Buffer>> outgrown_;
};

}  // namespace lanecrypt::runtime
