// The memory of a pipeline's chunks.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>

#include "pipeline/pipeline.h"

namespace lanecrypt::runtime {
namespace {

// The most slots for chunks that leave room. The kernel of a chunk of 256 streams of 64 KiB
// takes 3.8 ms, in which a bus of 50 GB/s brings eleven more.
constexpr size_t kMostConcurrentSlots = 16;
// A kernel takes as long as its longest stream, 3.8 ms for 64 KiB. If that stream is less than
// this part of its chunk, the ring's eight slots hide the time, and more slots would only wait
// for each other.
constexpr uint64_t kPartOfLongest = 512;
// These slots take at most this part of the device's memory, if its size is known.
constexpr uint64_t kPartOfMemory = 16;
// So many chunks may wait in streams of the caller's before a call waits for one of them.
constexpr size_t kMostInStreams = 256;

}  // namespace

using device::MemoryKind;

bool Pipeline::leaves_room(const Slot &slot) {
  const bool needs_none =
      slot.share.pages.empty() && slot.share.ring_in_bytes == 0 && slot.share.ring_out_bytes == 0;
  if (!slot.work.is_concurrent || !needs_none) return false;
  uint64_t longest = 0;
  for (const CipherPiece &piece : slot.work.pieces) longest = std::max(longest, piece.length);
  return longest * kPartOfLongest > slot.bytes;
}

bool Pipeline::has_free_slot(bool in_callers_stream) {
  if (in_callers_stream) return in_streams_.size() < kMostInStreams;
  if (under_way_.size() < ring_slots_) return true;
  const auto has_room = [](const Slot *slot) { return slot->leaves_room; };
  if (!std::all_of(under_way_.begin(), under_way_.end(), has_room)) return false;
  return !free_.empty() || make_concurrent_slot();
}

// Makes a slot with as much memory on the device as the last chunk's has. If there is not so
// much, no more slots are made.
bool Pipeline::make_concurrent_slot() {
  const uint64_t memory = device_.properties().memory_bytes;
  const bool is_large =
      memory == 0 || 2 * kChunkBytes * kMostConcurrentSlots <= memory / kPartOfMemory;
  may_make_more_ = may_make_more_ && is_large && slots_.size() < kMostConcurrentSlots;
  if (!may_make_more_) return false;
  auto slot = std::make_unique<Slot>();
  for (std::unique_ptr<device::Buffer> *buffer : {&slot->device_in, &slot->device_out}) {
    may_make_more_ = fit(*buffer, MemoryKind::kDevice, under_way_.back()->bytes).ok();
    if (!may_make_more_) return false;
  }
  free_.push_back(slot.get());
  slots_.push_back(std::move(slot));
  return true;
}

// Additional slots have no memory of the ring. While more chunks are under way than the ring
// has room for, at most one of them needs some. It takes that from another slot.
void Pipeline::take_over_ring(Slot &slot) {
  const auto take_over = [&](std::unique_ptr<device::Buffer> ChunkTransfer::*ring,
                             uint64_t ChunkTransfer::*bytes) {
    if (slot.share.*bytes == 0 || slot.share.*ring != nullptr) return;
    size_t made = 0;
    Slot *idle = nullptr;
    for (const std::unique_ptr<Slot> &other : slots_) {
      if (other->share.*ring == nullptr) continue;
      ++made;
      if (other->share.*bytes == 0) idle = other.get();
    }
    if (made >= ring_slots_ && idle != nullptr) std::swap(slot.share.*ring, idle->share.*ring);
  };
  take_over(&ChunkTransfer::ring_in, &ChunkTransfer::ring_in_bytes);
  take_over(&ChunkTransfer::ring_out, &ChunkTransfer::ring_out_bytes);
}

// The callers' data have passed through the ring.
void Pipeline::wipe_all() {
  // Chunks in streams of the caller's have scratch memory.
  for (const std::unique_ptr<Slot> &slot : stream_slots_)
    if (slot->device_in != nullptr && compute_ != nullptr)
      (void)compute_->zero(*slot->device_in, 0, slot->device_in->bytes());
  for (const std::unique_ptr<Slot> &slot : slots_) {
    for (const auto *buffer : {slot->share.ring_in.get(), slot->share.ring_out.get()})
      if (buffer != nullptr) secure::wipe(buffer->host(), buffer->bytes());
    for (const auto *buffer : {slot->device_in.get(), slot->device_out.get()})
      if (buffer != nullptr && compute_ != nullptr)
        (void)compute_->zero(*buffer, 0, buffer->bytes());
  }
  if (compute_ != nullptr) (void)finish(*compute_);
  // Keys are zeroed in these streams.
  for (const auto *slots : {&slots_, &stream_slots_})
    for (const std::unique_ptr<Slot> &slot : *slots)
      if (slot->own_stream != nullptr) (void)finish(*slot->own_stream);
}

// Makes sure that the buffer has at least `bytes`.
Status Pipeline::fit(std::unique_ptr<device::Buffer> &buffer, MemoryKind kind, uint64_t bytes) {
  if (bytes == 0 || (buffer != nullptr && buffer->bytes() >= bytes)) return Status();
  if (buffer != nullptr) {
    // It has held the callers' data.
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

// Makes the memory that a chunk needs. A slot keeps its memory, which grows.
Status Pipeline::allocate(Slot &slot) {
  // The last chunk's output is back, but its keys may not be zeroed yet. Memory that is still
  // being zeroed must not be freed to grow, and not be filled on another stream.
  if (slot.was_used) LC_TRY(slot.wiped->wait());
  const auto make = [&](std::unique_ptr<device::Event> &event, auto its_kind) -> Status {
    if (event != nullptr) return Status();
    Result<std::unique_ptr<device::Event>> made = (device_.*its_kind)();
    if (!made.ok()) return made.status();
    event = std::move(*made);
    return Status();
  };
  // What lies on the device is neither uploaded nor downloaded, and not timed in a caller's stream.
  if (!slot.is_in_callers_order) {
    // For these nobody waits, but other streams.
    for (std::unique_ptr<device::Event> *event :
         {&slot.upload_begin, &slot.upload_end, &slot.kernel_begin, &slot.download_begin})
      LC_TRY(make(*event, &device::Device::make_timed_quiet_event));
    LC_TRY(make(slot.kernel_end, &device::Device::make_event));
    LC_TRY(make(slot.wiped, &device::Device::make_quiet_event));
  }
  // Who still waits for the last chunk's end must not wait for this one's.
  if (slot.download_end == nullptr || slot.download_end.use_count() > 1) {
    Result<std::unique_ptr<device::Event>> made =
        slot.is_in_callers_order ? device_.make_quiet_event() : device_.make_event();
    if (!made.ok()) return made.status();
    slot.download_end = std::move(*made);
  }
  LC_TRY(fit(slot.device_in, MemoryKind::kDevice, slot.bytes));
  if (slot.on_device) return Status();
  LC_TRY(fit(slot.device_out, MemoryKind::kDevice, slot.bytes));
  LC_TRY(fit(slot.share.ring_in, MemoryKind::kPinned, slot.share.ring_in_bytes));
  return fit(slot.share.ring_out, MemoryKind::kPinned, slot.share.ring_out_bytes);
}

}  // namespace lanecrypt::runtime
