// SPDX-License-Identifier: Apache-2.0
#include "batch/launch_memory.h"

#include "batch/secret_pages.h"
#include "job/round_up.h"
#include "secure/key_memory.h"

namespace lanecrypt::runtime {

using device::MemoryKind;

Status LaunchMemory::grow(std::unique_ptr<device::Buffer> &buffer, MemoryKind kind,
                          uint64_t bytes) {
  if (buffer != nullptr && buffer->bytes() >= bytes) return Status();
  if (buffer != nullptr) outgrown_.push_back(std::move(buffer));
  // More than is needed, so that slowly growing batches do not allocate each time.
  constexpr uint64_t kStep = 256;
  const uint64_t wanted = round_up(bytes + bytes / 4, kStep);
  const auto allocate = [&] {
    return kind == MemoryKind::kPinned ? allocate_secret_pages(device_, wanted)
                                       : device_.allocate(kind, wanted);
  };
  Result<std::unique_ptr<device::Buffer>> made = allocate();
  if (made.status().code() == LC_ERROR_MEMORY && !outgrown_.empty()) {
    free_outgrown();
    made = allocate();
  }
  if (!made.ok()) return made.status();
  buffer = std::move(*made);
  return Status();
}

void LaunchMemory::free_outgrown() {
  // What passed through the host's was the callers' data.
  for (const std::unique_ptr<device::Buffer> &buffer : outgrown_)
    if (buffer->kind() == MemoryKind::kPinned) secure::wipe(buffer->host(), buffer->bytes());
  outgrown_.clear();
}

}  // namespace lanecrypt::runtime
