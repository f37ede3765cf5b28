// SPDX-License-Identifier: Apache-2.0
#include "schedule/pipeline.h"

#include <algorithm>
#include <cstring>

#include "job/ccm_format.h"

namespace lanecrypt::schedule {
namespace {

using device::MemoryKind;

// Shorter pieces gain nothing from a copy of their own.
constexpr uint64_t kLeastDirectBytes = 64 << 10;
constexpr size_t kMostSlots = 8;

// Where the bytes of one piece are, on the host and in the slot.
struct Lane {
  const uint8_t *in;
  uint8_t *out;
  uint64_t at;  // offset in the slot's memory
  uint64_t length;
  bool direct_in, direct_out;  // copied from and to the caller's pinned memory
  bool is_aad = false;         // nothing comes back
  // The header of CCM, which is written where it is to lie; then `in` is none.
  const ChunkPiece *header_of = nullptr;
};

}  // namespace

struct Pipeline::Slot {
  AesRoom room;
  std::unique_ptr<device::Buffer> pinned_in, pinned_out, device_in, device_out;
  std::unique_ptr<device::Event> upload_begin, upload_end, kernel_begin, kernel_end, download_begin,
      download_end;
  // The keys are zeroed: room may be filled again.
  std::unique_ptr<device::Event> wiped;
  bool was_used = false;
  // Of the chunk under way:
  std::vector<ChunkPiece> pieces;
  std::vector<Lane> lanes;
  Request *sliced = nullptr;
  AesWork work;
  AeadRoom aead_room;
  AeadWork aead;
  std::unique_ptr<device::Stream> adopted;
  std::unique_ptr<device::Buffer> scratch_view;
  bool on_device = false;
  Status status;
};

Pipeline::Pipeline(device::Device &device, AesForm form, AesGrid grid, uint64_t pinned_bytes,
                   const PinnedMemory &pinned)
    : device_(device), aes_(device, form, grid), aead_(device, aes_), pinned_(pinned) {
  const size_t count = std::clamp<uint64_t>(pinned_bytes / (2 * kChunkBytes), 2, kMostSlots);
  for (size_t n = 0; n < count; ++n) {
    slots_.push_back(std::make_unique<Slot>());
    free_.push_back(slots_.back().get());
  }
}

Pipeline::~Pipeline() {
  // What passed through the ring was the callers' data.
  for (const std::unique_ptr<Slot> &slot : slots_) {
    for (const auto *buffer : {slot->pinned_in.get(), slot->pinned_out.get()})
      if (buffer != nullptr) secure::wipe(buffer->host(), buffer->bytes());
    for (const auto *buffer : {slot->device_in.get(), slot->device_out.get()})
      if (buffer != nullptr && compute_ != nullptr)
        (void)compute_->zero(*buffer, 0, buffer->bytes());
  }
  if (compute_ != nullptr) (void)compute_->finish();
}

Status Pipeline::open() {
  for (std::unique_ptr<device::Stream> *stream : {&upload_, &compute_, &download_}) {
    Result<std::unique_ptr<device::Stream>> made = device_.make_stream();
    if (!made.ok()) return made.status();
    *stream = std::move(*made);
  }
  return Status();
}

ChunkLimits Pipeline::limits(const CipherKind &kind) const {
  const uint32_t keys = AeadLaunch::takes(kind) ? aead_.max_keys(kind) : aes_.max_keys(kind);
  return {kChunkBytes, std::min(aes_.max_pieces(), keys)};
}

Status Pipeline::prepare(Slot &slot) {
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
  const auto allocate = [&](std::unique_ptr<device::Buffer> &buffer, MemoryKind kind) -> Status {
    if (buffer != nullptr) return Status();
    Result<std::unique_ptr<device::Buffer>> made = device_.allocate(kind, kChunkBytes);
    if (!made.ok()) return made.status();
    buffer = std::move(*made);
    return Status();
  };
  LC_TRY(allocate(slot.device_in, MemoryKind::kDevice));
  if (slot.on_device) return Status();
  LC_TRY(allocate(slot.device_out, MemoryKind::kDevice));
  const auto staged = [](bool Lane::*direct) {
    return [direct](const Lane &lane) { return !(lane.*direct); };
  };
  if (std::any_of(slot.lanes.begin(), slot.lanes.end(), staged(&Lane::direct_in)))
    LC_TRY(allocate(slot.pinned_in, MemoryKind::kPinned));
  if (std::any_of(slot.lanes.begin(), slot.lanes.end(), staged(&Lane::direct_out)))
    LC_TRY(allocate(slot.pinned_out, MemoryKind::kPinned));
  return Status();
}

Pipeline::Slot &Pipeline::take_slot() {
  Slot *slot = free_.front();
  free_.pop_front();
  under_way_.push_back(slot);
  slot->status = Status();
  return *slot;
}

bool Pipeline::start(Chunk chunk) {
  Slot &slot = take_slot();
  slot.on_device = false;
  slot.pieces = std::move(chunk.pieces);
  slot.sliced = chunk.sliced;
  slot.work = {};
  slot.aead = {};
  slot.work.kind = chunk.kind;
  slot.status = begin(slot);
  return slot.status.ok();
}

bool Pipeline::start(DeviceChunk chunk) {
  Slot &slot = take_slot();
  slot.on_device = true;
  slot.sliced = nullptr;
  slot.lanes.clear();
  slot.pieces.clear();
  for (const Piece &piece : chunk.pieces) slot.pieces.push_back({chunk.request, piece});
  slot.work = std::move(chunk.work);
  slot.aead = std::move(chunk.aead);
  slot.status = begin_on_device(slot, chunk);
  return slot.status.ok();
}

// Gives every piece its place in the slot, its descriptor and its key.
void Pipeline::lay_out(Slot &slot) {
  slot.lanes.clear();
  const Request *request = nullptr;
  std::vector<uint32_t> key_numbers;
  constexpr uint32_t kNone = UINT32_MAX;
  uint64_t at = 0;
  for (const ChunkPiece &part : slot.pieces) {
    const CipherMessage &message = part.request->job.messages[part.piece.message];
    if (part.request.get() != request) {
      request = part.request.get();
      key_numbers.assign(request->job.key_count, kNone);
    }
    uint32_t &key = key_numbers[message.key];
    if (key == kNone) {
      key = static_cast<uint32_t>(slot.work.keys.size());
      slot.work.keys.push_back(request->job.key(message.key));
    }

    const bool is_aad = part.piece.is_aad;
    const TextSpan text = request->text_of(part.piece);
    const uint64_t header_bytes = is_aad ? 0 : part.piece.length - text.length;
    if (header_bytes != 0)
      slot.lanes.push_back({.in = nullptr,
                            .out = nullptr,
                            .at = at,
                            .length = header_bytes,
                            .direct_in = false,
                            .direct_out = false,
                            .is_aad = true,
                            .header_of = &part});
    Lane lane = {.in = is_aad ? message.aad + part.piece.offset : message.in + text.offset,
                 .out = is_aad ? nullptr : message.out + text.offset,
                 .at = at + header_bytes,
                 .length = is_aad ? part.piece.length : text.length,
                 .direct_in = false,
                 .direct_out = false,
                 .is_aad = is_aad};
    if (lane.length >= kLeastDirectBytes) {
      lane.direct_in = pinned_.holds(lane.in, lane.length);
      // In place, the input must outlive the copy back, which may fail.
      lane.direct_out = !is_aad && lane.in != lane.out && pinned_.holds(lane.out, lane.length);
    }
    AesPiece piece = describe(*request, part.piece);
    piece.in = piece.out = lane.at;
    piece.key = key;
    piece.chain = slot.sliced != nullptr ? part.piece.message
                                         : static_cast<uint32_t>(slot.work.pieces.size());
    if (request->aead != nullptr)
      slot.aead.parts.push_back(describe_part(
          *request, part.piece, static_cast<uint32_t>(slot.work.pieces.size()), key, at));
    if (!is_aad && part.piece.length != 0) slot.work.pieces.push_back(piece);
    slot.lanes.push_back(lane);
    at += header_bytes + whole_blocks(lane.length);
  }
}

void Pipeline::gather(Slot &slot) {
  for (const Lane &lane : slot.lanes) {
    if (lane.direct_in || lane.length == 0) continue;
    uint8_t *to = slot.pinned_in->host() + lane.at;
    if (lane.header_of != nullptr)
      copy_ccm_header(lane.header_of->request->job, lane.header_of->piece.message,
                      lane.header_of->piece.offset, lane.length, to);
    else
      memcpy(to, lane.in, lane.length);
  }
}

// Before the output of OFB in place lies on its input.
void Pipeline::keep_keystream(Slot &slot) {
  if (slot.sliced == nullptr || slot.work.kind.mode().continuation != Continuation::kKeystream)
    return;
  slot.sliced->keystream.resize(slot.sliced->job.messages.size());
  for (size_t n = 0; n < slot.lanes.size(); ++n) {
    const Lane &lane = slot.lanes[n];
    Iv &kept = slot.sliced->keystream[slot.pieces[n].piece.message];
    if (lane.direct_out || lane.length < kept.size()) continue;
    const uint64_t at = lane.length - kept.size();
    for (size_t byte = 0; byte < kept.size(); ++byte)
      kept[byte] = lane.in[at + byte] ^ slot.pinned_out->host()[lane.at + at + byte];
  }
}

void Pipeline::scatter(Slot &slot) {
  keep_keystream(slot);
  for (const Lane &lane : slot.lanes)
    if (!lane.direct_out && !lane.is_aad && lane.length != 0)
      memcpy(lane.out, slot.pinned_out->host() + lane.at, lane.length);
}

// One copy for each run of staged pieces, one for each direct piece.
Status Pipeline::upload_data(Slot &slot) {
  for (size_t n = 0; n < slot.lanes.size();) {
    const Lane &first = slot.lanes[n];
    if (first.direct_in) {
      LC_TRY(upload_->upload(*slot.device_in, first.at, first.in, first.length));
      ++n;
      continue;
    }
    while (n < slot.lanes.size() && !slot.lanes[n].direct_in) ++n;
    const uint64_t end = slot.lanes[n - 1].at + slot.lanes[n - 1].length;
    if (end == first.at) continue;
    LC_TRY(upload_->upload(*slot.device_in, first.at, slot.pinned_in->host() + first.at,
                           end - first.at));
  }
  return Status();
}

Status Pipeline::download_data(Slot &slot) {
  for (size_t n = 0; n < slot.lanes.size();) {
    const Lane &first = slot.lanes[n];
    if (first.direct_out) {
      LC_TRY(download_->download(first.out, *slot.device_out, first.at, first.length));
      ++n;
      continue;
    }
    if (first.is_aad) {
      ++n;
      continue;
    }
    while (n < slot.lanes.size() && !slot.lanes[n].direct_out) ++n;
    const uint64_t end = slot.lanes[n - 1].at + slot.lanes[n - 1].length;
    if (end == first.at) continue;
    LC_TRY(download_->download(slot.pinned_out->host() + first.at, *slot.device_out, first.at,
                               end - first.at));
  }
  return Status();
}

// The chain values of a request in slices stay on the device between chunks;
// the kernels of one stream run in order, so each slice finds the last one's.
Status Pipeline::continue_chain(Slot &slot) {
  if (slot.sliced == nullptr) return Status();
  if (slot.sliced->chain == nullptr) {
    Result<std::unique_ptr<device::Buffer>> chain =
        device_.allocate(MemoryKind::kDevice, slot.sliced->job.messages.size() * kBlockBytes);
    if (!chain.ok()) return chain.status();
    slot.sliced->chain = std::move(*chain);
  }
  slot.work.chain = slot.sliced->chain.get();
  return Status();
}

Status Pipeline::upload_work(device::Stream &stream, Slot &slot) {
  if (AeadLaunch::takes(slot.work.kind))
    return aead_.upload(stream, slot.aead_room, slot.work, slot.aead);
  return aes_.upload(stream, slot.room, slot.work);
}

Status Pipeline::launch_work(device::Stream &stream, Slot &slot) {
  if (AeadLaunch::takes(slot.work.kind))
    return aead_.launch(stream, slot.aead_room, slot.work, slot.aead, *slot.kernel_begin,
                        *slot.kernel_end);
  return aes_.launch(stream, slot.room, slot.work, *slot.kernel_begin, *slot.kernel_end);
}

Status Pipeline::begin(Slot &slot) {
  lay_out(slot);
  LC_TRY(prepare(slot));
  LC_TRY(continue_chain(slot));
  slot.work.in = slot.device_in.get();
  slot.work.out = slot.device_out.get();
  gather(slot);
  LC_TRY(upload_->mark(*slot.upload_begin));
  LC_TRY(upload_work(*upload_, slot));
  LC_TRY(upload_data(slot));
  LC_TRY(upload_->mark(*slot.upload_end));
  LC_TRY(compute_->await(*slot.upload_end));
  LC_TRY(launch_work(*compute_, slot));
  LC_TRY(compute_->mark(*slot.wiped));
  slot.was_used = true;
  LC_TRY(download_->await(*slot.kernel_end));
  LC_TRY(download_->mark(*slot.download_begin));
  LC_TRY(download_data(slot));
  LC_TRY(aead_.download(*download_, slot.aead_room, slot.work, slot.aead));
  return download_->mark(*slot.download_end);
}

Status Pipeline::begin_on_device(Slot &slot, DeviceChunk &chunk) {
  LC_TRY(prepare(slot));
  device::Stream *stream = compute_.get();
  if (void *handle = chunk.request->job.stream; handle != nullptr) {
    Result<std::unique_ptr<device::Stream>> adopted = device_.adopt_stream(handle);
    if (!adopted.ok()) return adopted.status();
    slot.adopted = std::move(*adopted);
    stream = slot.adopted.get();
  }
  if (chunk.scratch_bytes != 0) {
    slot.scratch_view = std::move(chunk.scratch_view);
    slot.work.in = slot.device_in.get();
    LC_TRY(stream->copy(*slot.device_in, chunk.scratch_offset, *chunk.scratch_from.buffer,
                        chunk.scratch_from.offset, chunk.scratch_bytes));
  }
  LC_TRY(upload_work(*stream, slot));
  LC_TRY(launch_work(*stream, slot));
  LC_TRY(aead_.download(*stream, slot.aead_room, slot.work, slot.aead));
  return stream->mark(*slot.download_end);
}

// A device that is lost cannot be told to.
void Pipeline::wipe(const device::Buffer &buffer) {
  (void)upload_->zero(buffer, 0, buffer.bytes());
  (void)upload_->finish();
}

bool Pipeline::oldest_is_done() {
  Slot &slot = *under_way_.front();
  return !slot.status.ok() || slot.download_end->reached();
}

void Pipeline::add_times(Slot &slot) {
  // A chunk of several requests counts for the first.
  lc_result &result = slot.pieces.front().request->result;
  result.kernel_ns += slot.kernel_end->nanoseconds_since(*slot.kernel_begin);
  if (slot.on_device) return;
  result.upload_ns += slot.upload_end->nanoseconds_since(*slot.upload_begin);
  result.download_ns += slot.download_end->nanoseconds_since(*slot.download_begin);
}

Retired Pipeline::retire() {
  Slot &slot = *under_way_.front();
  if (slot.status.ok()) slot.status = slot.download_end->wait();
  if (!slot.status.ok()) {
    // What was begun must not touch the caller's memory any more.
    for (device::Stream *stream :
         {slot.adopted.get(), upload_.get(), compute_.get(), download_.get()})
      if (stream != nullptr) (void)stream->finish();
  } else {
    if (!slot.on_device) scatter(slot);
    add_times(slot);
  }
  std::vector<cpu::AeadSum> sums;
  if (AeadLaunch::takes(slot.work.kind)) {
    if (slot.status.ok())
      for (size_t n = 0; n < slot.aead.parts.size(); ++n)
        sums.push_back(aead_.sum(slot.aead_room, slot.work, n));
    aead_.wipe_staging(slot.aead_room, slot.work, slot.aead);
  } else {
    AesLaunch::wipe_staging(slot.room, slot.work);
  }
  slot.adopted.reset();
  slot.scratch_view.reset();
  under_way_.pop_front();
  // It comes first again: jobs that come one by one need the memory of one slot.
  free_.push_front(&slot);
  return {std::move(slot.pieces), slot.status, std::move(sums)};
}

}  // namespace lanecrypt::schedule
