// What is left to do of a request's messages, as pieces. The pieces of a message that
// nobody has begun are made only when they are asked for: to make them for a job of very
// many messages would delay the call that hands it over.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "job/cipher/cipher_job.h"

namespace lanecrypt::runtime {

// A run of bytes of one message, with the IV at its start. Of a job of segments: a run of whole
// segments, of which `message` is the first, with the bytes of all their texts. In CCM a message
// begins with its header, and the MAC stands in the place of the IV.
struct Piece {
  uint32_t message;
  uint64_t offset;  // within the message, or the header and the message
  uint64_t length;
  Iv iv;
  // CBC encryption of a message in slices: the IV is the last block of the slice before.
  // That may still be on the device.
  bool continues;
  // Additional data of an authenticated mode. They are hashed, and nothing comes back.
  bool is_aad = false;
};

// Bytes of a message, in CCM with its header.
uint64_t stream_bytes(const CipherJob &job, uint32_t message);

// In the order of the messages at first. A message's additional data come before its
// text.
class Todo {
 public:
  // Empty, for this job.
  explicit Todo(const CipherJob &job) : job_(job) {}
  // Fills it with all of the job, which has its messages by now. Comes before all other
  // calls.
  void begin();

  bool empty() const { return made_.empty() && unmade_ == 0; }
  size_t size() const { return made_.size() + unmade_; }
  // Good until another call takes from here, or adds.
  Piece &front() { return at(0); }
  Piece &at(size_t n) {
    while (n >= made_.size()) make_next();
    return made_[n];
  }
  void pop_front() {
    if (made_.empty()) make_next();
    made_.pop_front();
  }
  void push_front(const Piece &piece) { made_.push_front(piece); }
  template <typename Pieces>
  void push_front_all(const Pieces &pieces) {
    made_.insert(made_.begin(), pieces.begin(), pieces.end());
  }
  void push_back(const Piece &piece) { all().push_back(piece); }
  const Piece &back() { return all().back(); }
  // Adds a whole message.
  void push_back_message(uint32_t number);
  void clear();

  // Has the pieces of all messages of which a piece was ever taken, or looked at.
  std::deque<Piece> &made() { return made_; }
  const std::deque<Piece> &made() const { return made_; }
  // Visits, besides these, each message that has all of its pieces left.
  template <typename Visit>
  void each_unmade(Visit visit) const {
    for (uint32_t n = next_; n < job_.messages.size() && unmade_ != 0; ++n) visit(n);
  }
  std::deque<Piece> &all() {
    while (unmade_ != 0) make_next();
    return made_;
  }

 private:
  // Makes all pieces of a message. Returns how many.
  size_t make(uint32_t number);
  void make_next() { unmade_ -= make(next_++); }

  const CipherJob &job_;
  std::deque<Piece> made_;
  // How many pieces are not made yet: those of the messages from next_ on.
  size_t unmade_ = 0;
  uint32_t next_ = 0;
};

}  // namespace lanecrypt::runtime
