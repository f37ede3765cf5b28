// SPDX-License-Identifier: Apache-2.0
#include "provider/keystream/keystream.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <thread>

#include "job/cipher/counter.h"

namespace lanecrypt::provider {
namespace {

constexpr size_t kBlockBytes = 16;
// A piece is at most such a part of the stream so far. If the stream then ends, two
// pieces are lost.
constexpr uint64_t kPartOfStream = 16, kLeastPieceBytes = 4096;
// So long the end of a stream waits for what is under way. That takes well below a
// millisecond.
constexpr std::chrono::milliseconds kEndOfPiece{200};

}  // namespace

// The compiler makes versions of this function for what each CPU has.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void xor_and_wipe(uint8_t *out, const uint8_t *in, uint8_t *keystream, size_t bytes) {
  typedef uint64_t Line __attribute__((vector_size(64), aligned(1), may_alias));
  size_t at = 0;
  for (; at + sizeof(Line) <= bytes; at += sizeof(Line)) {
    Line *key = reinterpret_cast<Line *>(keystream + at);
    *reinterpret_cast<Line *>(out + at) = *reinterpret_cast<const Line *>(in + at) ^ *key;
    *key = Line{};
  }
  for (; at < bytes; ++at) {
    out[at] = in[at] ^ keystream[at];
    keystream[at] = 0;
  }
}

Keystream *Keystream::begin(lc_context *devices, KeystreamPool &pool, const uint8_t *key,
                            uint32_t key_bytes, const uint8_t counter[16], uint64_t done_bytes) {
  try {
    std::unique_ptr<Keystream> made(new Keystream(devices, pool));
    uint8_t *slabs[2];
    if (!pool.take(slabs)) return nullptr;
    for (int n = 0; n < 2; ++n) made->pieces_[n].slab = slabs[n];
    made->key_ = key;
    made->key_bytes_ = key_bytes;
    made->done_before_ = done_bytes;
    std::memcpy(made->first_counter_, counter, sizeof made->first_counter_);
    made->order(made->pieces_[0], 0);
    if (!made->is_over_) made->order(made->pieces_[1], made->pieces_[0].to);
    return made.release();
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

Keystream::~Keystream() { (void)end(); }

// Encrypts zeros, in place: that is keystream.
void Keystream::order(Piece &piece, uint64_t from) {
  const uint64_t part = (done_before_ + at_) / kPartOfStream / kBlockBytes * kBlockBytes;
  piece.from = piece.used_to = from;
  piece.to = from + std::clamp<uint64_t>(part, kLeastPieceBytes, KeystreamPool::kSlabBytes);
  piece.is_made = false;
  uint8_t counter[16];
  std::memcpy(counter, first_counter_, sizeof counter);
  advance_counter(counter, from / kBlockBytes);
  lc_message message{};
  message.key = key_;
  message.iv = counter;
  message.in = message.out = piece.slab;
  message.length = piece.to - piece.from;
  lc_cipher_job job{};
  job.struct_size = sizeof job;
  job.cipher = LC_AES_CTR;
  job.direction = LC_ENCRYPT;
  job.key_bytes = key_bytes_;
  job.memory = LC_MEMORY_HOST;
  job.device = LC_ANY_DEVICE;
  job.messages = &message;
  job.message_count = 1;
  job.message_size = sizeof message;
  if (lc_submit(devices_, &job, nullptr, &piece.ticket) == LC_OK) return;
  piece.ticket = nullptr;
  is_over_ = has_failed_ = true;
}

// Whether the piece is made. If the CPU had to make it, that is no gain, and it is the
// last piece.
bool Keystream::settle(Piece &piece, bool waits) {
  if (piece.is_made || piece.ticket == nullptr) return piece.is_made;
  if (!waits && lc_ticket_status(piece.ticket) == LC_PENDING) return false;
  lc_result result{};
  result.struct_size = sizeof result;
  const lc_status status = lc_ticket_wait(piece.ticket, &result);
  lc_ticket_free(piece.ticket);
  piece.ticket = nullptr;
  piece.is_made = status == LC_OK && result.cpu_bytes == 0;
  if (piece.is_made) return true;
  is_over_ = true;
  has_failed_ = has_failed_ || status != LC_OK || result.failed_devices > 0;
  OPENSSL_cleanse(piece.slab, piece.to - piece.from);
  return false;
}

// Makes the slab zeros again. Its job is over.
void Keystream::clear(Piece &piece) {
  if (piece.is_made && piece.used_to < piece.to) {
    OPENSSL_cleanse(piece.slab + (piece.used_to - piece.from), piece.to - piece.used_to);
    wasted_ += piece.to - piece.used_to;
  }
  piece.is_made = false;
}

// Orders the piece behind the stream anew, ahead of it.
void Keystream::turn(bool waits) {
  for (int n = 0; n < 2 && !is_over_; ++n) {
    Piece &piece = pieces_[current_];
    if (at_ < piece.to || !settle(piece, waits)) return;
    const Piece &other = pieces_[current_ ^ 1];
    clear(piece);
    const uint64_t next_block = (at_ + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
    if (!is_over_) order(piece, std::max(other.to, next_block));
    current_ ^= 1;
  }
}

size_t Keystream::use(uint8_t *out, const uint8_t *in, size_t bytes, bool waits) {
  size_t done = 0;
  while (done < bytes) {
    turn(waits);
    Piece &piece = pieces_[current_];
    if (at_ < piece.from || at_ >= piece.to || !settle(piece, waits)) break;
    // Keystream that was skipped is not used.
    uint8_t *keystream = piece.slab + (at_ - piece.from);
    if (piece.used_to < at_) {
      OPENSSL_cleanse(piece.slab + (piece.used_to - piece.from), at_ - piece.used_to);
      wasted_ += at_ - piece.used_to;
    }
    const size_t part = std::min<uint64_t>(bytes - done, piece.to - at_);
    xor_and_wipe(out + done, in + done, keystream, part);
    done += part;
    at_ += part;
    used_ += part;
    piece.used_to = at_;
  }
  return done;
}

unsigned Keystream::tell(uint8_t counter[16]) const {
  std::memcpy(counter, first_counter_, sizeof first_counter_);
  advance_counter(counter, at_ / kBlockBytes);
  return unsigned(at_ % kBlockBytes);
}

uint64_t Keystream::end() {
  const auto limit = std::chrono::steady_clock::now() + kEndOfPiece;
  for (Piece &piece : pieces_) {
    if (piece.slab == nullptr) continue;
    while (piece.ticket != nullptr && lc_ticket_status(piece.ticket) == LC_PENDING &&
           std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (piece.ticket != nullptr && lc_ticket_status(piece.ticket) == LC_PENDING) {
      pool_.park(piece.slab, piece.ticket);
      wasted_ += piece.to - piece.from;
    } else {
      (void)settle(piece, true);
      clear(piece);
      pool_.give_back(piece.slab);
    }
    piece.ticket = nullptr;
    piece.slab = nullptr;
  }
  is_over_ = true;
  OPENSSL_cleanse(first_counter_, sizeof first_counter_);
  return wasted_;
}

}  // namespace lanecrypt::provider
