// Input of a chunk that is in the device's memory already. It is copied to the chunk's own, so that
// kernels and downloads are those of every chunk. That takes little beside a download: a device
// reads and writes its own memory many times as fast as the bus.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/device.h"

namespace lanecrypt::runtime {

// For the device's thread.
class DeviceInput {
 public:
  // Comes after all copies are done.
  void clear() {
    parts_.clear();
    views_.clear();
  }
  // `length` bytes from an address on the device go to `at` in the chunk.
  void add(uint64_t address, uint64_t at, uint64_t length) {
    if (length != 0) parts_.push_back({address, at, length});
  }
  Status copy(device::Device &device, device::Stream &stream, const device::Buffer &to);

 private:
  struct Part {
    uint64_t address, at, length;
  };
  std::vector<Part> parts_;
  std::vector<std::unique_ptr<device::Buffer>> views_;  // what is copied from
};

}  // namespace lanecrypt::runtime
