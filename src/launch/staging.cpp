// SPDX-License-Identifier: Apache-2.0
#include "launch/staging.h"

#include <algorithm>

#include "job/round_up.h"
#include "secure/key_memory.h"

namespace lanecrypt::runtime {

using device::MemoryKind;

namespace {
constexpr uint64_t kAlignment = 256;  // of cuMemAlloc()
}  // namespace

Status grow(device::Device &device, std::unique_ptr<device::Buffer> &buffer, MemoryKind kind,
            uint64_t bytes, Outgrown &outgrown) {
  if (buffer != nullptr && buffer->bytes() >= bytes) return Status();
  const uint64_t with_reserve = std::max<uint64_t>(bytes + bytes / 2, 4096);
  if (buffer != nullptr) outgrown.push_back(std::move(buffer));
  Result<std::unique_ptr<device::Buffer>> larger = device.allocate(kind, with_reserve);
  if (!larger.ok()) return larger.status();
  buffer = std::move(*larger);
  return Status();
}

void StagedMemory::wipe_secrets() {
  if (host != nullptr) secure::wipe(host->host() + secret_at, secret_bytes);
  secret_bytes = 0;
}

Status StagedMemory::zero_secrets(device::Stream &stream) const {
  for (const Secret &secret : on_device)
    LC_TRY(stream.zero(*secret.buffer, secret.at, secret.bytes));
  return Status();
}

void Staging::add(std::unique_ptr<device::Buffer> &to, uint64_t bytes, bool is_secret,
                  Write write) {
  if (bytes == 0) return;
  things_.push_back({&to, 0, bytes, is_secret ? Kind::kSecret : Kind::kOpen, std::move(write)});
}

void Staging::reserve(std::unique_ptr<device::Buffer> &to, uint64_t bytes) {
  if (bytes != 0) things_.push_back({&to, 0, bytes, Kind::kReserved, nullptr});
}

Staging::Layout Staging::lay_out() {
  std::stable_sort(things_.begin(), things_.end(),
                   [](const Thing &a, const Thing &b) { return a.kind < b.kind; });
  Layout layout;
  for (Thing &thing : things_) {
    thing.at = round_up(layout.end, kAlignment);
    layout.end = thing.at + thing.bytes;
    if (thing.kind != Kind::kReserved) layout.copied = layout.end;
    if (thing.kind != Kind::kOpen) layout.secret_at = std::min(layout.secret_at, thing.at);
  }
  return layout;
}

Status Staging::write(const Layout &layout, StagedMemory &memory) {
  // What was there is wiped before this lets go of it.
  memory.wipe_secrets();
  memory.on_device.clear();
  LC_TRY(grow(device_, memory.host, MemoryKind::kPinned, layout.copied, memory.outgrown));
  memory.secret_at = std::min(layout.secret_at, layout.copied);
  memory.secret_bytes = layout.copied - memory.secret_at;
  for (const Thing &thing : things_)
    if (thing.kind != Kind::kReserved) thing.write(memory.host->host() + thing.at);
  return Status();
}

Status Staging::run_in_reach(StagedMemory &memory) {
  if (things_.empty()) return Status();
  LC_TRY(write(lay_out(), memory));
  for (const Thing &thing : things_)
    *thing.to = std::make_unique<device::PinnedPart>(*memory.host, thing.at, thing.bytes);
  return Status();
}

Status Staging::run(device::Stream &stream, StagedMemory &memory) {
  if (things_.empty()) return Status();
  const Layout layout = lay_out();
  LC_TRY(write(layout, memory));
  const uint8_t *const host = memory.host->host();
  if (!device_.properties().flat_addresses) {
    for (const Thing &thing : things_) {
      LC_TRY(grow(device_, *thing.to, MemoryKind::kDevice, thing.bytes, memory.outgrown));
      if (thing.kind != Kind::kOpen) memory.on_device.push_back({thing.to->get(), 0, thing.bytes});
      if (thing.kind != Kind::kReserved)
        LC_TRY(stream.upload(**thing.to, 0, host + thing.at, thing.bytes));
    }
    return Status();
  }
  LC_TRY(grow(device_, memory.device, MemoryKind::kDevice, layout.end, memory.outgrown));
  if (layout.secret_at < layout.end)
    memory.on_device.push_back(
        {memory.device.get(), layout.secret_at, layout.end - layout.secret_at});
  LC_TRY(make_views(memory));
  return stream.upload(*memory.device, 0, host, layout.copied);
}

Status Staging::make_views(StagedMemory &memory) {
  for (const Thing &thing : things_) {
    const uint64_t address = memory.device->address() + thing.at;
    std::unique_ptr<device::Buffer> &view = *thing.to;
    // For jobs that are alike, they stay where they were.
    if (view != nullptr && view->address() == address && view->bytes() == thing.bytes) continue;
    Result<std::unique_ptr<device::Buffer>> made = device_.view(address, thing.bytes);
    if (!made.ok()) return made.status();
    view = std::move(*made);
  }
  return Status();
}

}  // namespace lanecrypt::runtime
