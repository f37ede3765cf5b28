// One operation with a private key on a channel: sends the request and receives its answer.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "service/client/key.h"
#include "service/client/session.h"
#include "service/wire/packets.h"

namespace lanecrypt::client {

// Owns nothing: if an ASYNC job is never resumed, its stack is freed and no destructor runs. All
// that it refers to must outlive it. Not thread-safe.
class Exchange {
 public:
  enum class State {
    kWaits,    // the answer has not come
    kDone,     // the output is in `out`
    kRefused,  // outcome() says why
    kEnded,    // the session was ended
    kNoKey,    // the numbers of the key are not available; nothing was sent
  };

  // RSA: `in` and `out` are as long as the modulus. Signatures: `in` is the input that
  // service::Sign describes, and `out` gets the signature.
  Exchange(Session &session, Channel &channel, Key &key, std::span<const uint8_t> in,
           std::span<uint8_t> out)
      : session_(session), channel_(channel), key_(key), in_(in), out_(out) {}

  // Sends the request, with the key unless the service has confirmed that it has the key.
  State send() { return send(!key_.is_known_in(session_)); }
  // Receives the answer if it is there. With `waits` it blocks for it, up to a second. If the
  // service does not know the key, sends the request again, with the key.
  State receive(bool waits);
  // Blocks until the answer comes. After kSilence it ends the session.
  State wait();

  // Valid after kRefused.
  service::Outcome outcome() const { return outcome_; }
  bool is_of_slh_dsa() const { return key_.operation_kind().family == service::Family::kSlhDsa; }

 private:
  State send(bool with_key);
  State end(Fault fault);
  service::Transfer receive_answer(bool waits);
  service::Transfer receive_short(bool waits);
  service::Transfer receive_long(bool waits);

  Session &session_;
  Channel &channel_;
  Key &key_;
  const std::span<const uint8_t> in_;
  const std::span<uint8_t> out_;
  int64_t began_ = 0;
  bool sent_key_ = false;
  service::Outcome outcome_ = service::Outcome::kFailed;
};

}  // namespace lanecrypt::client
