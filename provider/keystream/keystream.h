// Keystream of one CTR stream, which a device makes ahead of it in two pieces by
// turns: while the stream is in one, the device makes the other.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "provider/keystream/keystream_pool.h"

namespace lanecrypt::provider {

// One thread at a time. No byte of keystream is used twice: it is wiped as it is used.
class Keystream {
 public:
  // Of the stream whose next block has this counter. The key is needed as long as this
  // lives. nullptr where there is no room for it. `done_bytes`: how long the stream has
  // been, of which a piece is no more than a part.
  static Keystream *begin(lc_context *devices, KeystreamPool &pool, const uint8_t *key,
                          uint32_t key_bytes, const uint8_t counter[16], uint64_t done_bytes);
  // Wipes all, and waits for the device to that end, but not for one that hangs.
  ~Keystream();
  Keystream(const Keystream &) = delete;

  // Encrypts or decrypts, out == in or apart, as many bytes as there is keystream for.
  // `waits`: for a piece that is under way.
  size_t use(uint8_t *out, const uint8_t *in, size_t bytes, bool waits);
  // Somebody else did so many.
  void skip(size_t bytes) { at_ += bytes; }

  // The counter of the block that the stream is in, and how many of its bytes were used.
  unsigned tell(uint8_t counter[16]) const;
  // A device did not make it: there is no more.
  bool is_over() const { return is_over_; }
  // And that since it failed, not since there was none.
  bool has_failed() const { return has_failed_; }
  // That were made and not used.
  uint64_t wasted_bytes() const { return wasted_; }
  uint64_t used_bytes() const { return used_; }
  uint64_t all_bytes() const { return at_; }
  // Wipes what there is; returns how much was wasted in all.
  uint64_t end();

 private:
  struct Piece {
    uint8_t *slab = nullptr;  // zeros, but for what was made and not used
    lc_ticket *ticket = nullptr;
    uint64_t from = 0, to = 0;  // bytes of the stream
    uint64_t used_to = 0;
    bool is_made = false;
  };

  Keystream(lc_context *devices, KeystreamPool &pool) : devices_(devices), pool_(pool) {}
  void order(Piece &piece, uint64_t from);
  bool settle(Piece &piece, bool waits);
  void turn(bool waits);
  void clear(Piece &piece);

  lc_context *const devices_;
  KeystreamPool &pool_;
  const uint8_t *key_ = nullptr;
  uint32_t key_bytes_ = 0;
  uint8_t first_counter_[16] = {};
  uint64_t done_before_ = 0;
  uint64_t at_ = 0, used_ = 0, wasted_ = 0;
  bool is_over_ = false, has_failed_ = false;
  Piece pieces_[2];
  int current_ = 0;
};

// What use() does, and leaves zeros where the keystream was.
void xor_and_wipe(uint8_t *out, const uint8_t *in, uint8_t *keystream, size_t bytes);

}  // namespace lanecrypt::provider
