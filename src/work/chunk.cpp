// SPDX-License-Identifier: Apache-2.0
#include "work/chunk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "cpu/tag_arithmetic.h"
#include "job/cipher/stealing.h"

namespace lanecrypt::runtime {
namespace {

constexpr uint64_t kPageBytes = 4096, kLeastOfPages = 1 << 20;
constexpr uint64_t kStreamsOfChunk = 256;
// So many long streams of a chain keep a device busy.
constexpr uint64_t kStreamsOfShare = 512;
// A chunk takes some time whatever its size. This is how much passes the bus in that time, as a
// fraction of the smallest chunk: with 4 MiB and 50 GB/s it is 8 us.
constexpr double kOwnCost = 3.0 / 32;

// Splits `bytes` off the front of a piece. The mode must allow a cut there.
Piece split(const Request &request, Piece &piece, uint64_t bytes) {
  Piece front = piece;
  front.length = bytes;
  piece.offset += bytes;
  piece.length -= bytes;
  const CipherKind &kind = request.job.kind;
  if (kind.is_chain()) {
    piece.continues = true;
    return front;
  }
  switch (kind.info().continuation) {
    case Continuation::kCounter:
      piece.iv = advance_counter(front.iv, bytes / kBlockBytes);
      break;
    case Continuation::kCiphertext: {
      // Its input is not overwritten yet, even in place: no piece from here on is done.
      const uint8_t *in = request.job.messages[piece.message].in;
      memcpy(piece.iv.data(), in + piece.offset - kBlockBytes, kBlockBytes);
      break;
    }
    case Continuation::kDataUnits:
      piece.iv = advance_tweak(front.iv, bytes / request.job.data_unit_bytes);
      break;
    case Continuation::kChaChaCounter:
      piece.iv = advance_chacha20(front.iv, bytes / kChaChaBlockBytes);
      break;
    case Continuation::kNothing:
    case Continuation::kMessage:
    case Continuation::kKeystream:  // a chain
    case Continuation::kMac:
      break;
  }
  return front;
}

// The most bytes, up to `most`, that a cut can leave in the front of a piece.
uint64_t cut_at(const Request &request, const Piece &piece, uint64_t most) {
  const CipherInfo &info = request.job.kind.info();
  if (info.has_data_units()) {
    const uint64_t unit = request.job.data_unit_bytes;
    return unit == 0 ? 0 : most / unit * unit;
  }
  if (info.continuation == Continuation::kChaChaCounter ||
      info.continuation == Continuation::kMessage)
    return most / kChaChaBlockBytes * kChaChaBlockBytes;
  if (piece.length < most + info.tail_bytes)
    most = piece.length - std::min<uint64_t>(piece.length, info.tail_bytes);
  // Memory is pinned by whole pages. So a long cut goes between two pages.
  const CipherMessage &message = request.job.messages[piece.message];
  const uint8_t *host = (request.job.reads_device() ? message.out : message.in) + piece.offset;
  const uint64_t on_page = (reinterpret_cast<uint64_t>(host) + most) % kPageBytes;
  if (most >= kLeastOfPages && on_page % kBlockBytes == 0) most -= on_page;
  return most / kBlockBytes * kBlockBytes;
}

// Takes what still fits from the front of one request. False if nothing did.
bool cut_parallel(const RequestPointer &request, ChunkLimits &left, Chunk &chunk) {
  const size_t before = chunk.pieces.size();
  // After a cut at a page or a data unit some room is left. It is not worth another cut.
  bool was_cut = false;
  while (!request->todo.empty() && !was_cut && left.bytes >= kBlockBytes && left.pieces > 0) {
    Piece &next = request->todo.front();
    was_cut = next.length > left.bytes;
    if (!was_cut) {
      chunk.pieces.push_back({request.get(), next});
      request->todo.pop_front();
    } else {
      const Piece front = cut_front(*request, next, left.bytes);
      if (front.length == 0) break;
      chunk.pieces.push_back({request.get(), front});
    }
    left.bytes -= std::min(left.bytes, whole_blocks(chunk.pieces.back().piece.length));
    --left.pieces;
  }
  return chunk.pieces.size() > before;
}

// Takes whole streams of a chain. The chunk is computed in as many threads as it has
// streams, and others like it are computed beside it.
void cut_streams(const RequestPointer &request, ChunkLimits &left, Chunk &chunk) {
  while (!request->todo.empty() && left.pieces > 0) {
    const Piece &next = request->todo.front();
    const uint64_t bytes = whole_blocks(next.length);
    if (bytes > left.bytes) break;
    chunk.pieces.push_back({request.get(), next});
    request->todo.pop_front();
    left.bytes -= bytes;
    --left.pieces;
  }
  chunk.is_concurrent = true;
}

// Takes a slice of every stream, so that all of a request's threads have work.
void cut_slices(const RequestPointer &request, ChunkLimits &left, Chunk &chunk) {
  const uint64_t streams =
      std::min<uint64_t>({request->todo.size(), left.pieces, left.bytes / kBlockBytes});
  const uint64_t slice = left.bytes / streams / kBlockBytes * kBlockBytes;
  std::deque<Piece> rest;
  for (uint64_t n = 0; n < streams; ++n) {
    Piece piece = request->todo.front();
    request->todo.pop_front();
    if (piece.length <= slice) {
      chunk.pieces.push_back({request.get(), piece});
    } else {
      const Piece front = cut_front(*request, piece, slice);
      if (front.length != 0) chunk.pieces.push_back({request.get(), front});
      rest.push_back(piece);
    }
  }
  request->todo.push_front_all(rest);
  chunk.sliced = request.get();
  request->is_sliced = true;
}

bool fits(Request &request, const ChunkLimits &left) {
  if (request.todo.size() > left.pieces) return false;
  uint64_t bytes = 0;
  for (size_t n = 0; n < request.todo.size(); ++n)
    if ((bytes += whole_blocks(request.todo.at(n).length)) > left.bytes) return false;
  return true;
}

// Whether the streams are so short that a few chunks of whole streams have enough threads. Slices
// of such streams would be scattered over many pages.
bool are_short(const Request &request, const ChunkLimits &limits) {
  return whole_blocks(request.longest_stream_bytes) <= limits.bytes / kStreamsOfChunk;
}

bool has_short_streams(const Request &request, const ChunkLimits &limits) {
  return request.todo.size() >= kStreamsOfChunk && are_short(request, limits);
}

// Ciphertext stealing: the last two blocks of a message are treated apart from the rest, unless
// they are as in plain CBC.
void set_stealing(lc_cipher cipher, CipherPiece &piece) {
  const StealingEnd end = stealing_end(cipher, piece.length);
  if (end.is_plain()) return;
  piece.tail_bytes = static_cast<uint16_t>(kBlockBytes + end.part_bytes);
  piece.swapped = end.is_swapped ? 1 : 0;
  piece.length -= piece.tail_bytes;
}

}  // namespace

uint64_t chunk_bytes(const CipherJob &job, uint64_t waiting_bytes, uint64_t least, uint64_t most) {
  const bool has_units = job.kind.info().has_data_units();
  if (job.kind.is_chain() || (has_units && job.data_unit_bytes == 0)) return most;
  const double parts = static_cast<double>(waiting_bytes) / static_cast<double>(least);
  const uint64_t bytes = static_cast<uint64_t>(std::lround(std::sqrt(parts * kOwnCost))) * least;
  return std::clamp(has_units ? std::max(bytes, job.data_unit_bytes) : bytes, least, most);
}

CipherPiece describe(const Request &request, const Piece &piece) {
  CipherPiece made = {};
  made.length = request.text_of(piece).length;
  made.continues = piece.continues ? 1 : 0;
  memcpy(made.iv, piece.iv.data(), sizeof made.iv);
  if (request.job.kind.info().has_data_units()) {
    const uint64_t unit = request.job.data_unit_bytes;
    made.unit_bytes =
        static_cast<uint32_t>(unit == 0 ? piece.length : std::min(unit, piece.length));
    made.slots = piece.length / made.unit_bytes * (made.unit_bytes / kBlockBytes) +
                 piece.length % made.unit_bytes / kBlockBytes;
  }
  if (request.aead != nullptr && !request.job.kind.is_ccm()) {
    const uint64_t block =
        request.job.kind.info().is_block_cipher() ? kBlockBytes : kChaChaBlockBytes;
    const Iv iv = cpu::aead_counter(
        request.job.kind, request.aead->start(piece.message),
        (request.job.aead[piece.message].text_before() + piece.offset) / block + 1);
    memcpy(made.iv, iv.data(), sizeof made.iv);
  }
  if (request.job.kind.info().steals() && request.ends_message(piece))
    set_stealing(request.job.kind.cipher, made);
  return made;
}

AeadPart describe_part(const Request &request, const Piece &piece, uint32_t index, uint32_t key,
                       uint64_t aad_at) {
  const CipherMessage &message = request.job.messages[piece.message];
  const TextSpan text = request.text_of(piece);
  const Block lengths = cpu::lengths_block(
      request.job.kind.info().mode, request.job.aead[piece.message].aad_length, message.length);
  const bool has_none = piece.is_aad || piece.length == 0;
  return {.piece = has_none ? AeadPart::kNoPiece : index,
          .aad_at = aad_at,
          .length = piece.is_aad ? piece.length : text.length,
          .header_bytes = piece.is_aad ? 0 : piece.length - text.length,
          .first_block = text.offset / kBlockBytes,
          .exponent = aead_exponent(request.job, piece),
          .key = key,
          .start = request.aead->start(piece.message),
          .is_aad = piece.is_aad,
          .closes = closes(request, piece),
          .lengths = std::to_array(lengths.w)};
}

Piece cut_front(const Request &request, Piece &piece, uint64_t bytes) {
  const uint64_t front = cut_at(request, piece, bytes);
  if (front != 0) return split(request, piece, front);
  Piece nothing = piece;
  nothing.length = 0;
  return nothing;
}

bool may_be_shared(const CipherKind &kind, uint64_t bytes, size_t messages, uint64_t least_bytes) {
  return bytes >= least_bytes && (!kind.is_chain() || messages >= 2 * kStreamsOfShare);
}

uint64_t share_bytes(Request &whole, const ChunkLimits &limits, size_t devices) {
  if (!whole.job.kind.is_chain() || are_short(whole, limits)) return limits.bytes;
  // A chunk has a slice of each of its streams. It takes as long for a few streams as for
  // many.
  const uint64_t streams = std::max(kStreamsOfShare, whole.todo.size() / (2 * devices));
  uint64_t bytes = 0;
  for (uint64_t n = 0; n < std::min<uint64_t>(streams, whole.todo.size()); ++n)
    bytes += whole_blocks(whole.todo.at(n).length);
  return bytes;
}

uint64_t take_share(Request &whole, const ChunkLimits &limits, Todo *to) {
  ChunkLimits left = limits;
  uint64_t taken = 0;
  bool was_cut = false;
  while (!whole.todo.empty() && !was_cut && left.pieces > 0) {
    Piece &next = whole.todo.front();
    if (next.length <= left.bytes || (whole.job.kind.is_chain() && to->empty())) {
      to->push_back(next);
      whole.todo.pop_front();
    } else {
      if (whole.job.kind.is_chain() || left.bytes < kBlockBytes) break;
      const Piece front = cut_front(whole, next, left.bytes);
      if (front.length == 0) break;
      to->push_back(front);
      was_cut = true;
    }
    taken += whole.text_of(to->back()).length;
    left.bytes -= std::min(left.bytes, whole_blocks(to->back().length));
    --left.pieces;
  }
  return taken;
}

Chunk cut_chunk(std::list<RequestPointer> &queue, const ChunkLimits &limits) {
  Chunk chunk;
  chunk.kind = queue.front()->job.kind;
  ChunkLimits left = limits;
  std::list<RequestPointer> cut_in_part;
  for (auto at = queue.begin();
       at != queue.end() && left.bytes >= kBlockBytes && left.pieces > 0;) {
    const RequestPointer request = *at;
    // A part of shared work may have no pieces for now.
    if (request->todo.empty() || !(request->job.kind == chunk.kind) ||
        request->job.memory == LC_MEMORY_DEVICE) {
      ++at;
      continue;
    }
    bool took = true;
    const bool has_streams =
        chunk.kind.is_chain() && !request->is_sliced && has_short_streams(*request, limits);
    // A part of shared work gets more pieces later. Each must not become a chunk of its own.
    if (has_streams && request->shared != nullptr && chunk.pieces.empty())
      cut_streams(request, left, chunk);
    else if (!chunk.kind.is_chain() || (!request->is_sliced && fits(*request, left)))
      took = cut_parallel(request, left, chunk);
    else if (chunk.pieces.empty() && has_streams)
      cut_streams(request, left, chunk);
    else if (chunk.pieces.empty())
      cut_slices(request, left, chunk);
    else
      took = false;
    if (!took) {
      ++at;
      continue;
    }
    ++request->chunks_under_way;
    chunk.requests.push_back(request);
    at = queue.erase(at);
    if (!request->todo.empty() || request->shared != nullptr) cut_in_part.push_back(request);
    if (chunk.sliced != nullptr || chunk.is_concurrent) break;
  }
  queue.splice(queue.end(), cut_in_part);
  return chunk;
}

}  // namespace lanecrypt::runtime
