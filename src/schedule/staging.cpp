// SPDX-License-Identifier: Apache-2.0
#include "schedule/staging.h"

#include <algorithm>

#include "secure/key_memory.h"

namespace lanecrypt::schedule {

using device::MemoryKind;

namespace {
constexpr uint64_t kAlignment = 256;  // of cuMemAlloc()
}  // namespace

Status grow(device::Device &device, std::unique_ptr<device::Buffer> &buffer, MemoryKind kind,
            uint64_t bytes) {
  if (buffer != nullptr && buffer->bytes() >= bytes) return Status();
  const uint64_t with_reserve = std::max<uint64_t>(bytes + bytes / 2, 4096);
  buffer.reset();
  Result<std::unique_ptr<device::Buffer>> larger = device.allocate(kind, with_reserve);
  if (!larger.ok()) return larger.status();
  buffer = std::move(*larger);
  return Status();
}

void StagedMemory::wipe_secrets() {
  for (const Range &secret : secrets)
    if (host != nullptr) secure::wipe(host->host() + secret.at, secret.bytes);
  secrets.clear();
}

void Staging::add(std::unique_ptr<device::Buffer> &to, uint64_t bytes, bool is_secret,
                  Write write) {
  if (bytes == 0) return;
  const uint64_t at = (bytes_ + kAlignment - 1) / kAlignment * kAlignment;
  things_.push_back({&to, at, bytes, is_secret, std::move(write)});
  bytes_ = at + bytes;
}

Status Staging::run(device::Stream &stream, StagedMemory &memory) {
  if (things_.empty()) return Status();
  // What was there is wiped before this lets go of it.
  memory.wipe_secrets();
  LC_TRY(grow(device_, memory.host, MemoryKind::kPinned, bytes_));
  uint8_t *const host = memory.host->host();
  for (const Thing &thing : things_) {
    if (thing.is_secret) memory.secrets.push_back({thing.at, thing.bytes});
    thing.write(host + thing.at);
  }
  if (!device_.properties().flat_addresses) {
    for (const Thing &thing : things_) {
      LC_TRY(grow(device_, *thing.to, MemoryKind::kDevice, thing.bytes));
      LC_TRY(stream.upload(**thing.to, 0, host + thing.at, thing.bytes));
    }
    return Status();
  }
  LC_TRY(grow(device_, memory.device, MemoryKind::kDevice, bytes_));
  for (const Thing &thing : things_) {
    const uint64_t address = memory.device->address() + thing.at;
    std::unique_ptr<device::Buffer> &view = *thing.to;
    // Of jobs that are alike they stay where they were.
    if (view != nullptr && view->address() == address && view->bytes() == thing.bytes) continue;
    Result<std::unique_ptr<device::Buffer>> made = device_.view(address, thing.bytes);
    if (!made.ok()) return made.status();
    view = std::move(*made);
  }
  return stream.upload(*memory.device, 0, host, bytes_);
}

}  // namespace lanecrypt::schedule
