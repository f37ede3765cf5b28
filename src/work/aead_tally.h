// The tags of one request's messages. They are gathered while the pieces come back, in
// any order, from wherever they ran.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <vector>

#include "cpu/cpu_aead.h"
#include "job/cipher/cipher_job.h"

namespace lanecrypt::runtime {

struct Piece;
class Request;

// One thread at a time, except for add() and mac().
class AeadTally {
 public:
  // Computes where each message's counter starts.
  Status begin(const CipherJob &job);

  const Iv &start(uint32_t message) const { return messages_[message].start; }
  // CCM: the MAC of the pieces that are done. One thread does all pieces of a message.
  Iv mac(uint32_t message) const;
  // Whether no part of a message has been done yet.
  bool is_untouched(uint32_t message) const { return !messages_[message].is_touched; }

  // A piece was done, by a device or by cpu::run_aead_piece().
  void add(const Request &request, const Piece &piece, const cpu::AeadSum &sum);
  // Forgets what was done of a message.
  void start_over(const CipherJob &job, uint32_t message);
  // A message was done whole on the CPU. Its tag is written or, if it was wrong, its
  // output is wiped.
  void set_done(uint32_t message, bool tag_is_wrong);

  // For the messages that are done, writes the tags, compares them, or adds to the sums of
  // parts. Wipes, in host memory, all decrypted output whose tag is not right. LC_ERROR_TAG
  // if a tag is wrong. Of input in host memory the CPU confirms that before it is reported. Where
  // tags stay on the device there is nothing left to do.
  // If it throws, withhold() must follow.
  Status finish(const CipherJob &job);
  // Wipes all decrypted output in host memory: nobody can say which tags are right.
  void withhold(const CipherJob &job) noexcept;
  // Whether a device called a tag wrong that is right.
  bool was_misled() const { return was_misled_; }

 private:
  struct Message {
    Iv start = {};
    cpu::AeadSum sum = {};
    uint64_t bytes_left = 0;  // of all pieces
    bool is_touched = false;
    bool is_closed = false;
    bool is_done = false;  // done whole on the CPU
    bool tag_is_wrong = false;
  };
  Result<bool> is_tag_right(const CipherJob &job, uint32_t message) const;

  std::mutex mutex_;
  std::vector<Message> messages_;
  bool was_misled_ = false;
};

// The power of H by which the last block of a piece is multiplied. For the block of lengths,
// the last of all, that power is 1.
uint64_t aead_exponent(const CipherJob &job, const Piece &piece);
// Whether a piece brings the block of lengths and the mask with it, or is the last of
// CCM. A part of a message has no such piece.
bool closes(const Request &request, const Piece &piece);

}  // namespace lanecrypt::runtime
