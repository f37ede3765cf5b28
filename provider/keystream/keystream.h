// Keystream of one CTR stream. A device makes it ahead in two pieces by turns: while the
// stream is in one piece, the device makes the other.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "provider/keystream/keystream_pool.h"

namespace lanecrypt::provider {

// One thread at a time may use it. No byte of keystream is used twice: it is wiped as it
// is used.
class Keystream {
 public:
  // Begins for the stream whose next block has this counter. The key must stay as long as
  // this lives. nullptr if there is no room. `done_bytes`: the length of the stream so
  // far; a piece is only a part of that.
  static Keystream *begin(lc_context *devices, KeystreamPool &pool, const uint8_t *key,
                          uint32_t key_bytes, const uint8_t counter[16], uint64_t done_bytes);
  // Wipes all of it. For that it waits for the device, but not for one that hangs.
  ~Keystream();
  Keystream(const Keystream &) = delete;

  // Encrypts or decrypts as many bytes as there is keystream for, out == in or apart, and
  // returns how many. `waits`: whether to wait for a piece that is under way.
  size_t use(uint8_t *out, const uint8_t *in, size_t bytes, bool waits);
  // Somebody else did so many bytes of the stream.
  void skip(size_t bytes) { at_ += bytes; }

  // The counter of the block in which the stream is, and how many bytes of that block
  // were used.
  unsigned tell(uint8_t counter[16]) const;
  // No more keystream comes, since no device makes it.
  bool is_over() const { return is_over_; }
  // It is over because a device failed, not because there was none.
  bool has_failed() const { return has_failed_; }
  // Bytes that were made and not used.
  uint64_t wasted_bytes() const { return wasted_; }
  uint64_t used_bytes() const { return used_; }
  uint64_t all_bytes() const { return at_; }
  // Wipes what there is. Returns how much was wasted in all.
  uint64_t end();

 private:
  struct Piece {
    uint8_t *slab = nullptr;  // zeros, but for keystream that was made and not used
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

// The inner loop of use(). It leaves zeros where the keystream was.
void xor_and_wipe(uint8_t *out, const uint8_t *in, uint8_t *keystream, size_t bytes);

}  // namespace lanecrypt::provider
