// The memory of a pipeline's chunks.
//
// SPDX-License-Identifier: Apache-2.0
#include "schedule/pipeline.h"

namespace lanecrypt::schedule {

using device::MemoryKind;

// What passed through the ring was the callers' data.
void Pipeline::wipe_all() {
  for (const std::unique_ptr<Slot> &slot : slots_) {
    for (const auto *buffer : {slot->share.ring_in.get(), slot->share.ring_out.get()})
      if (buffer != nullptr) secure::wipe(buffer->host(), buffer->bytes());
    for (const auto *buffer : {slot->device_in.get(), slot->device_out.get()})
      if (buffer != nullptr && compute_ != nullptr)
        (void)compute_->zero(*buffer, 0, buffer->bytes());
  }
  if (compute_ != nullptr) (void)finish(*compute_);
  // Keys are zeroed there.
  for (const std::unique_ptr<Slot> &slot : slots_)
    if (slot->own_stream != nullptr) (void)finish(*slot->own_stream);
}

// Makes it a buffer of at least `bytes`.
Status Pipeline::fit(std::unique_ptr<device::Buffer> &buffer, MemoryKind kind, uint64_t bytes) {
  if (bytes == 0 || (buffer != nullptr && buffer->bytes() >= bytes)) return Status();
  if (buffer != nullptr) {
    // It held the callers' data.
    if (kind == MemoryKind::kPinned)
      secure::wipe(buffer->host(), buffer->bytes());
    else
      LC_TRY(compute_->zero(*buffer, 0, buffer->bytes()));
    LC_TRY(finish(*compute_));
    buffer.reset();
  }
  Result<std::unique_ptr<device::Buffer>> made =
      device_.allocate(kind, bytes <= kSmallSlotBytes ? kSmallSlotBytes : kChunkBytes);
  if (!made.ok()) return made.status();
  buffer = std::move(*made);
  return Status();
}

// The memory of the chunk. What a slot has is kept, and grows.
Status Pipeline::allocate(Slot &slot) {
  // The last chunk's output is back, but its keys may not be zeroed yet, and
  // what is zeroed must not be freed to grow, nor filled again on another stream.
  if (slot.was_used) LC_TRY(slot.wiped->wait());
  for (std::unique_ptr<device::Event> *event :
       {&slot.upload_begin, &slot.upload_end, &slot.kernel_begin, &slot.kernel_end,
        &slot.download_begin, &slot.download_end, &slot.wiped}) {
    if (*event != nullptr) continue;
    Result<std::unique_ptr<device::Event>> made = device_.make_event();
    if (!made.ok()) return made.status();
    *event = std::move(*made);
  }
  LC_TRY(fit(slot.device_in, MemoryKind::kDevice, slot.bytes));
  if (slot.on_device) return Status();
  LC_TRY(fit(slot.device_out, MemoryKind::kDevice, slot.bytes));
  LC_TRY(fit(slot.share.ring_in, MemoryKind::kPinned, slot.share.ring_in_bytes));
  return fit(slot.share.ring_out, MemoryKind::kPinned, slot.share.ring_out_bytes);
}

}  // namespace lanecrypt::schedule
