// The tags of one request's messages, gathered while their pieces come back
// from wherever they ran, in any order.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <vector>

#include "cpu/cpu_aead.h"
#include "job/cipher_job.h"

namespace lanecrypt::schedule {

struct Piece;
class Request;

// One thread at a time, but for add() and mac().
class AeadTally {
 public:
  // Computes where each message's counter starts.
  Status begin(const CipherJob &job);

  const Iv &start(uint32_t message) const { return messages_[message].start; }
  // CCM: of the pieces that are done. A message's pieces are one thread's.
  Iv mac(uint32_t message) const;
  // Whether no part of a message has been done yet.
  bool is_untouched(uint32_t message) const { return !messages_[message].is_touched; }

  // A piece is done, by a device or by cpu::run_aead_piece().
  void add(const Request &request, const Piece &piece, const cpu::AeadSum &sum);
  // Forgets what was done of a message.
  void start_over(const CipherJob &job, uint32_t message);
  // A message was done whole on the CPU: its tag is written, or, when it was
  // wrong, its output is wiped.
  void set_done(uint32_t message, bool tag_is_wrong);

  // Writes or compares the tags of the messages that are done, or adds to the
  // sums of parts; wipes, in host
  // memory, all output of decryption whose tag is not right. LC_ERROR_TAG where
  // one is wrong: in host memory not on a device's word alone.
  Status finish(const CipherJob &job);
  // Whether a device made a tag wrong that is right.
  bool was_misled() const { return was_misled_; }

 private:
  struct Message {
    Iv start = {};
    cpu::AeadSum sum = {};
    uint64_t bytes_left = 0;  // of all pieces
    bool is_touched = false;
    bool is_closed = false;
    bool is_done = false;  // whole on the CPU
    bool tag_is_wrong = false;
  };
  Result<bool> is_tag_right(const CipherJob &job, uint32_t message) const;

  std::mutex mutex_;
  std::vector<Message> messages_;
  bool was_misled_ = false;
};

// The power of H that the last block of a piece has: 1 is that of the block of
// lengths, which comes last.
uint64_t aead_exponent(const CipherJob &job, const Piece &piece);
// The piece that brings the block of lengths and the mask with it; the last of
// CCM. A part of a message has none.
bool closes(const Request &request, const Piece &piece);

}  // namespace lanecrypt::schedule
