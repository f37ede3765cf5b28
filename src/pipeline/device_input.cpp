// SPDX-License-Identifier: Apache-2.0
#include "pipeline/device_input.h"

#include <utility>

namespace lanecrypt::runtime {
namespace {

// Memory of a device with flat addresses, wherever its owner has it from: it may be put together
// from several allocations.
class FlatMemory : public device::Buffer {
 public:
  FlatMemory(uint64_t address, uint64_t bytes)
      : Buffer(device::MemoryKind::kDevice, address, bytes) {}
};

Result<std::unique_ptr<device::Buffer>> find(device::Device &device, uint64_t address,
                                             uint64_t bytes) {
  if (!device.properties().flat_addresses) return device.view(address, bytes);
  return std::unique_ptr<device::Buffer>(new FlatMemory(address, bytes));
}

}  // namespace

Status DeviceInput::copy(device::Device &device, device::Stream &stream, const device::Buffer &to) {
  for (const Part &part : parts_) {
    Result<std::unique_ptr<device::Buffer>> from = find(device, part.address, part.length);
    if (!from.ok()) return from.status();
    views_.push_back(std::move(*from));
    LC_TRY(stream.copy(to, part.at, *views_.back(), 0, part.length));
  }
  return Status();
}

}  // namespace lanecrypt::runtime
