// A chunk: the pieces of one launch, of one kind, from as many requests as wait.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <vector>

#include "kernels/block/layout.h"
#include "launch/launch_work.h"
#include "work/request.h"

namespace lanecrypt::runtime {

struct ChunkPiece {
  Request *request;  // one of the chunk's requests
  Piece piece;
};

struct Chunk {
  CipherKind kind;
  // Each request once, in the order of their pieces. The pieces of one request are side
  // by side.
  std::vector<RequestPointer> requests;
  std::vector<ChunkPiece> pieces;
  // CBC encryption in slices: the one request whose chain values this chunk continues.
  // Otherwise nullptr.
  Request *sliced = nullptr;
  // It has whole streams of a chain, which leave most of the device idle. Chunks like it
  // run side by side.
  bool is_concurrent = false;
  // Nothing else waits, so what the chunk needs is best done at once.
  bool is_all = false;
};

struct ChunkLimits {
  uint64_t bytes;  // pieces are counted in whole blocks
  uint32_t pieces;
};

// The most bytes of a chunk of such a job, when so many bytes wait:
//
//   sqrt(own * waiting_bytes), in multiples of `least`, from `least` to `most`.
//
// A chunk takes some time whatever its size. `own` is how many bytes pass the bus in that time:
// 3/32 of `least`, which is 8 us if `least` is 4 MiB and the bus carries 50 GB/s. Counted in
// bytes of the bus, chunks of b bytes cost
//
//   b                        Nothing of a chunk comes back before all of it is there. So each
//                            direction of the bus is idle while one chunk passes the other.
//   own * waiting_bytes / b  Each chunk costs its own time.
//
// The sum is least where the two are equal, which is the formula. However small the first
// and the last chunk are, the largest one counts.
//
// If a job can be cut only between data units, a chunk has room for one, up to `most`. It is
// `most` if a whole message is one unit, and in a chain, where the number of threads counts.
uint64_t chunk_bytes(const CipherJob &job, uint64_t waiting_bytes, uint64_t least, uint64_t most);

// What a kernel must know of a piece, except where its bytes are, its key and its chain
// value.
CipherPiece describe(const Request &request, const Piece &piece);
// What is hashed of a piece of an authenticated mode. `index` is the number of its
// CipherPiece; a piece without text has none. aad_at: where its additional data lie.
AeadPart describe_part(const Request &request, const Piece &piece, uint32_t index, uint32_t key,
                       uint64_t aad_at);

// Cuts at most `bytes` off the front of a longer piece, at a place where its mode allows a cut.
// The front is empty only if not even the smallest part that the mode allows fits.
Piece cut_front(const Request &request, Piece &piece, uint64_t bytes);

// One device does less than this before another one has begun.
constexpr uint64_t kLeastSharedBytes = 32 << 20;
// Whether several devices have enough work in so many bytes of so many messages.
bool may_be_shared(const CipherKind &kind, uint64_t bytes, size_t messages, uint64_t least_bytes);
// How much one of several devices takes at a time of what is left.
uint64_t share_bytes(Request &whole, const ChunkLimits &limits, size_t devices);
// Moves so much from the front of what is left to `to`. Returns how many bytes of text
// that is. Streams of a chain are not cut.
uint64_t take_share(Request &whole, const ChunkLimits &limits, Todo *to);

// Cuts the next chunk from the front of the queue, from requests of the first one's kind with
// output in host memory. A request leaves the queue when its last piece is cut. One that is
// cut in part goes to the end, so that a large request does not hold up small ones. Each
// piece counts once in chunks_under_way of its request. The queue must not be empty.
Chunk cut_chunk(std::list<RequestPointer> &queue, const ChunkLimits &limits);

}  // namespace lanecrypt::runtime
