// SPDX-License-Identifier: Apache-2.0
#include "schedule/chunk.h"

#include <algorithm>
#include <cstring>

namespace lanecrypt::schedule {
namespace {

// Splits `bytes`, a multiple of the block, off the front of a piece.
Piece split(const Request &request, Piece &piece, uint64_t bytes) {
  Piece front = piece;
  front.length = bytes;
  piece.offset += bytes;
  piece.length -= bytes;
  const CipherKind &kind = request.job.kind;
  if (kind.is_chain()) {
    piece.continues = true;
  } else if (kind.mode().continuation == Continuation::kCounter) {
    piece.iv = advance_counter(front.iv, bytes / kBlockBytes);
  } else if (kind.mode().continuation == Continuation::kCiphertext) {
    // Not overwritten yet, even in place: no piece from here on is done.
    const uint8_t *in = request.job.messages[piece.message].in;
    memcpy(piece.iv.data(), in + piece.offset - kBlockBytes, kBlockBytes);
  }
  return front;
}

// Takes from the front of one request what still fits.
void cut_parallel(const RequestPointer &request, ChunkLimits &left, Chunk &chunk) {
  while (!request->todo.empty() && left.bytes >= kBlockBytes && left.pieces > 0) {
    Piece &next = request->todo.front();
    if (next.length <= left.bytes) {
      chunk.pieces.push_back({request, next});
      request->todo.pop_front();
    } else {
      chunk.pieces.push_back(
          {request, split(*request, next, left.bytes / kBlockBytes * kBlockBytes)});
    }
    left.bytes -= std::min(left.bytes, whole_blocks(chunk.pieces.back().piece.length));
    --left.pieces;
  }
}

// A slice of every stream, so that all of a request's lanes have work.
void cut_slices(const RequestPointer &request, ChunkLimits &left, Chunk &chunk) {
  const uint64_t streams =
      std::min<uint64_t>({request->todo.size(), left.pieces, left.bytes / kBlockBytes});
  const uint64_t slice = left.bytes / streams / kBlockBytes * kBlockBytes;
  std::deque<Piece> rest;
  for (uint64_t n = 0; n < streams; ++n) {
    Piece piece = request->todo.front();
    request->todo.pop_front();
    if (piece.length <= slice) {
      chunk.pieces.push_back({request, piece});
    } else {
      const Piece front = split(*request, piece, slice);
      chunk.pieces.push_back({request, front});
      rest.push_back(piece);
    }
  }
  request->todo.insert(request->todo.begin(), rest.begin(), rest.end());
  chunk.sliced = request.get();
}

bool continues(const Request &request) {
  return std::any_of(request.todo.begin(), request.todo.end(),
                     [](const Piece &piece) { return piece.continues; });
}

bool fits(const Request &request, const ChunkLimits &left) {
  return request.todo.size() <= left.pieces && request.bytes_left() <= left.bytes;
}

}  // namespace

Chunk cut_chunk(std::list<RequestPointer> &queue, const ChunkLimits &limits) {
  Chunk chunk;
  chunk.kind = queue.front()->job.kind;
  ChunkLimits left = limits;
  std::list<RequestPointer> cut_in_part;
  for (auto at = queue.begin();
       at != queue.end() && left.bytes >= kBlockBytes && left.pieces > 0;) {
    const RequestPointer request = *at;
    if (!(request->job.kind == chunk.kind) || request->job.memory != LC_MEMORY_HOST) {
      ++at;
      continue;
    }
    if (!chunk.kind.is_chain()) {
      cut_parallel(request, left, chunk);
    } else if (fits(*request, left) && !continues(*request)) {
      cut_parallel(request, left, chunk);
    } else if (chunk.pieces.empty()) {
      cut_slices(request, left, chunk);
    } else {
      ++at;
      continue;
    }
    ++request->chunks_under_way;
    at = queue.erase(at);
    if (!request->todo.empty()) cut_in_part.push_back(request);
    if (chunk.sliced != nullptr) break;
  }
  queue.splice(queue.end(), cut_in_part);
  return chunk;
}

}  // namespace lanecrypt::schedule
