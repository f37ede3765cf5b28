// SPDX-License-Identifier: Apache-2.0
#include "work/device_memory.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "job/cipher/ccm_format.h"
#include "job/round_up.h"
#include "work/segment_chunk.h"

namespace lanecrypt::runtime {

Result<uint64_t> DeviceMemory::allocate(uint64_t bytes) {
  Result<std::unique_ptr<device::Buffer>> buffer =
      device_.allocate(device::MemoryKind::kDevice, bytes);
  if (!buffer.ok()) return buffer.status();
  const uint64_t address = (*buffer)->address();
  buffers_[address] = std::move(*buffer);
  return address;
}

Status DeviceMemory::free(uint64_t address) {
  if (buffers_.erase(address) == 0)
    return Status(LC_ERROR_ARGUMENT, "this is no memory of lc_alloc_device() on this device");
  return Status();
}

Status DeviceMemory::find(uint64_t address, uint64_t bytes, DeviceAddress *resolved) const {
  auto at = buffers_.upper_bound(address);
  if (at == buffers_.begin()) return Status();
  --at;
  const uint64_t offset = address - at->first;
  if (offset >= at->second->bytes()) return Status();
  if (bytes > at->second->bytes() - offset)
    return Status(LC_ERROR_ARGUMENT, "it reaches past the end of its device memory");
  *resolved = {at->second.get(), offset};
  return Status();
}

Result<DeviceAddress> DeviceMemory::resolve(uint64_t address, uint64_t bytes) const {
  DeviceAddress resolved;
  LC_TRY(find(address, bytes, &resolved));
  if (device_.properties().flat_addresses) return DeviceAddress{nullptr, address};
  if (resolved.buffer == nullptr)
    return Status(LC_ERROR_ARGUMENT, "this is no memory of lc_alloc_device() on this device");
  return resolved;
}

Result<DeviceAddress> DeviceMemory::resolve_to_copy(uint64_t address, uint64_t bytes,
                                                    std::unique_ptr<device::Buffer> *view) const {
  DeviceAddress resolved;
  LC_TRY(find(address, bytes, &resolved));
  if (resolved.buffer != nullptr) return resolved;
  Result<std::unique_ptr<device::Buffer>> made = device_.view(address, bytes);
  if (!made.ok()) return made.status();
  *view = std::move(*made);
  return DeviceAddress{view->get(), 0};
}

namespace {

// The most data units in one launch.
constexpr uint64_t kMostDataUnits = 1 << 22;

struct Ends {
  DeviceAddress in, out;
};

Result<Ends> find_ends(const Request &request, const Piece &piece, const DeviceMemory &memory) {
  const CipherMessage &message = request.job.messages[piece.message];
  const TextSpan text = request.text_of(piece);
  Result<DeviceAddress> in =
      memory.resolve(reinterpret_cast<uint64_t>(message.in) + text.offset, text.length);
  if (!in.ok()) return in.status();
  Result<DeviceAddress> out =
      memory.resolve(reinterpret_cast<uint64_t>(message.out) + text.offset, text.length);
  if (!out.ok()) return out.status();
  return Ends{*in, *out};
}

bool needs_scratch(const Request &request, const CipherMessage &message) {
  const CipherKind &kind = request.job.kind;
  return kind.info().reads_back(kind.direction) && message.in == message.out;
}

CipherPiece make_piece(const Request &request, const Ends &ends, const Piece &piece, uint32_t key) {
  CipherPiece made = describe(request, piece);
  made.in = ends.in.offset;
  made.out = ends.out.offset;
  made.key = key;
  return made;
}

// Takes the last part of the first message. So what comes before it is still ciphertext
// when its turn comes.
Status cut_in_place(Request &request, const DeviceMemory &memory, uint64_t scratch_bytes,
                    DeviceChunk *chunk) {
  Piece &front = request.todo.front();
  Piece piece = front;
  const uint64_t most = (scratch_bytes - kBlockBytes) / kBlockBytes * kBlockBytes;
  piece.offset = front.offset;
  if (front.length > most) piece.offset += whole_blocks(front.length - most);
  piece.length = front.offset + front.length - piece.offset;
  const bool from_start = piece.offset == 0;

  const CipherMessage &message = request.job.messages[piece.message];
  Result<Ends> ends = find_ends(request, piece, memory);
  if (!ends.ok()) return ends.status();
  chunk->scratch_offset = from_start ? kBlockBytes : 0;
  chunk->scratch_bytes = piece.length + (from_start ? 0 : kBlockBytes);
  Result<DeviceAddress> from = memory.resolve_to_copy(
      reinterpret_cast<uint64_t>(message.in) + piece.offset - (from_start ? 0 : kBlockBytes),
      chunk->scratch_bytes, &chunk->scratch_view);
  if (!from.ok()) return from.status();
  chunk->scratch_from = *from;

  CipherPiece made = make_piece(request, *ends, piece, 0);
  made.in = kBlockBytes;
  made.continues = from_start ? 0 : 1;
  chunk->work.keys = {request.job.key(message.key)};
  chunk->work.pieces = {made};
  chunk->work.out = ends->out.buffer;
  chunk->pieces = {piece};
  front.length -= piece.length;
  if (front.length == 0) request.todo.pop_front();
  return Status();
}

Status cut_apart(Request &request, const DeviceMemory &memory, uint32_t max_pieces,
                 DeviceChunk *chunk) {
  std::unordered_map<uint32_t, uint32_t> key_numbers;
  uint64_t units = 0;
  while (!request.todo.empty() && chunk->pieces.size() < max_pieces) {
    Piece piece = request.todo.front(), rest = piece;
    const CipherMessage &message = request.job.messages[piece.message];
    if (needs_scratch(request, message)) break;
    rest.length = 0;
    if (const uint64_t unit = request.job.data_unit_bytes; unit != 0) {
      // The launch's own memory holds the tweaks of all units.
      if (units == kMostDataUnits) break;
      if (divide_up(piece.length, unit) > kMostDataUnits - units) {
        rest = piece;
        piece = cut_front(request, rest, (kMostDataUnits - units) * unit);
      }
      units += divide_up(piece.length, unit);
    }
    Result<Ends> ends = find_ends(request, piece, memory);
    if (!ends.ok()) return ends.status();
    if (chunk->pieces.empty()) {
      chunk->work.in = ends->in.buffer;
      chunk->work.out = ends->out.buffer;
    } else if (chunk->work.in != ends->in.buffer || chunk->work.out != ends->out.buffer) {
      break;
    }
    const auto [number, is_new] =
        key_numbers.try_emplace(message.key, static_cast<uint32_t>(key_numbers.size()));
    if (is_new) chunk->work.keys.push_back(request.job.key(message.key));
    CipherPiece made = make_piece(request, *ends, piece, number->second);
    made.chain = static_cast<uint32_t>(chunk->pieces.size());
    chunk->work.pieces.push_back(made);
    chunk->pieces.push_back(piece);
    request.todo.pop_front();
    if (rest.length != 0) request.todo.push_front(rest);
  }
  return Status();
}

// Numbers the keys of a chunk as they come, most often the same one again.
class ChunkKeys {
 public:
  uint32_t number_of(uint32_t key, const CipherJob &job, std::vector<const uint8_t *> &keys) {
    if (keys.empty() || key != last_key_) {
      const auto [known, is_new] =
          numbers_.try_emplace(key, static_cast<uint32_t>(numbers_.size()));
      if (is_new) keys.push_back(job.key(key));
      last_key_ = key;
      last_number_ = known->second;
    }
    return last_number_;
  }

 private:
  std::unordered_map<uint32_t, uint32_t> numbers_;
  uint32_t last_key_ = 0, last_number_ = 0;
};

// What an authenticated message in the device's memory is, where it lies there.
struct AeadEnds {
  Ends text;
  DeviceAddress tag, verdict;
};

Result<AeadEnds> find_aead_ends(const Request &request, const Piece &text,
                                const DeviceMemory &memory) {
  const CipherJob &job = request.job;
  const CipherMessage &message = job.messages[text.message];
  AeadEnds ends;
  if (message.length != 0) {
    Result<Ends> found = find_ends(request, text, memory);
    if (!found.ok()) return found.status();
    ends.text = *found;
  }
  const auto find = [&](const uint8_t *at, uint64_t bytes, DeviceAddress *resolved) {
    Result<DeviceAddress> found = memory.resolve(reinterpret_cast<uint64_t>(at), bytes);
    if (found.ok()) *resolved = *found;
    return found.status();
  };
  if (job.tag_memory == LC_MEMORY_DEVICE)
    LC_TRY(find(job.aead[text.message].tag, job.tag_bytes, &ends.tag));
  if (job.verdicts != nullptr) LC_TRY(find(job.verdicts + message.number, 1, &ends.verdict));
  return ends;
}

// Whether a launch that has these buffers can take the message. A message without text has
// no place of its own.
bool shares_buffers(const ChunkWork &work, const AeadEnds &ends, bool has_text) {
  return (!has_text || (work.in == ends.text.in.buffer && work.out == ends.text.out.buffer)) &&
         work.aead.tags == ends.tag.buffer && work.aead.verdicts == ends.verdict.buffer;
}

TagCheck make_check(const Request &request, uint32_t number, const AeadEnds &ends) {
  const CipherJob &job = request.job;
  TagCheck check = {};
  check.at = ends.text.out.offset;
  check.length = job.messages[number].length;
  check.tag_at = ends.tag.offset;
  check.verdict_at = ends.verdict.offset;
  check.tag_bytes = job.tag_bytes;
  if (job.verdicts != nullptr) check.is |= TAG_HAS_VERDICT;
  if (job.tag_memory == LC_MEMORY_DEVICE)
    check.is |= TAG_IN_MEMORY;
  else if (job.kind.direction == LC_DECRYPT)
    memcpy(check.tag, job.aead[number].tag, job.tag_bytes);
  return check;
}

// Takes whole messages: the device must know a tag before it can say whether an output
// may stay.
Status cut_authenticated(Request &request, const DeviceMemory &memory, uint32_t max_pieces,
                         DeviceChunk *chunk) {
  ChunkKeys keys;
  const size_t most = std::min<size_t>(request.todo.size(), max_pieces);
  chunk->pieces.reserve(most);
  chunk->work.pieces.reserve(most);
  chunk->work.aead.parts.reserve(most);
  if (request.job.tags_stay_on_device() || request.job.kind.direction == LC_DECRYPT)
    chunk->work.aead.checks.reserve(most);
  uint64_t aad_at = 0;
  bool has_place = false;
  chunk->work.aead.tags_stay_on_device = request.job.tags_stay_on_device();
  while (!request.todo.empty() && chunk->pieces.size() + 2 <= max_pieces) {
    // A message's additional data come before its text.
    const bool has_aad = request.todo.front().is_aad;
    const Piece text = request.todo.at(has_aad ? 1 : 0);
    const CipherMessage &message = request.job.messages[text.message];
    const AeadMessage &aead_message = request.job.aead[text.message];
    const bool is_ccm = request.job.kind.is_ccm();
    Result<AeadEnds> found = find_aead_ends(request, text, memory);
    if (!found.ok()) return found.status();
    const AeadEnds &ends = *found;
    if (chunk->pieces.empty()) {
      chunk->work.aead.tags = ends.tag.buffer;
      chunk->work.aead.verdicts = ends.verdict.buffer;
    }
    if (!has_place && message.length != 0) {
      has_place = true;
      chunk->work.in = ends.text.in.buffer;
      chunk->work.out = ends.text.out.buffer;
    }
    if (!shares_buffers(chunk->work, ends, message.length != 0)) break;
    const uint32_t number = keys.number_of(message.key, request.job, chunk->work.keys);
    const uint32_t first_sum = static_cast<uint32_t>(chunk->pieces.size());
    if (has_aad) {
      chunk->work.aead.parts.push_back(
          describe_part(request, request.todo.front(), 0, number, aad_at));
      chunk->work.aead.aad.push_back({aead_message.aad, aead_message.aad_length});
      aad_at += whole_blocks(aead_message.aad_length);
      chunk->pieces.push_back(request.todo.front());
      request.todo.pop_front();
    }
    chunk->work.aead.parts.push_back(describe_part(request, text,
                                                   static_cast<uint32_t>(chunk->work.pieces.size()),
                                                   number, chunk->work.aead.headers.size()));
    if (is_ccm) {
      std::vector<uint8_t> &headers = chunk->work.aead.headers;
      const uint64_t at = headers.size(), bytes = ccm_header_bytes(aead_message.aad_length);
      headers.resize(at + bytes);
      copy_ccm_header(request.job, text.message, 0, bytes, headers.data() + at);
    }
    if (text.length != 0) {
      CipherPiece made = make_piece(request, ends.text, text, number);
      made.chain = static_cast<uint32_t>(chunk->work.pieces.size());
      chunk->work.pieces.push_back(made);
    }
    const bool is_wiped = message.length != 0 && request.job.kind.direction == LC_DECRYPT;
    if (is_wiped || request.job.tags_stay_on_device()) {
      TagCheck check = make_check(request, text.message, ends);
      check.first_sum = first_sum;
      check.sum_count = has_aad ? 2 : 1;
      chunk->work.aead.checks.push_back(check);
    }
    chunk->pieces.push_back(text);
    request.todo.pop_front();
  }
  return Status();
}

}  // namespace

Result<DeviceChunk> cut_device_chunk(const RequestPointer &request, const DeviceMemory &memory,
                                     uint32_t max_pieces, uint64_t scratch_bytes) {
  DeviceChunk chunk;
  chunk.request = request;
  chunk.work.kind = request->job.kind;
  if (request->job.segments) {
    LC_TRY(cut_segments(*request, memory, &chunk));
    ++request->chunks_under_way;
    return chunk;
  }
  const CipherMessage &first = request->job.messages[request->todo.front().message];
  if (request->aead != nullptr) {
    LC_TRY(cut_authenticated(*request, memory, max_pieces, &chunk));
    ++request->chunks_under_way;
    return chunk;
  }
  LC_TRY(needs_scratch(*request, first) ? cut_in_place(*request, memory, scratch_bytes, &chunk)
                                        : cut_apart(*request, memory, max_pieces, &chunk));
  ++request->chunks_under_way;
  return chunk;
}

}  // namespace lanecrypt::runtime
