// One operation with a private key on a channel: the request, and its answer.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "service/client/key.h"
#include "service/client/session.h"
#include "service/wire/packets.h"

namespace lanecrypt::client {

// It owns nothing: the stack of an ASYNC job that is never resumed is freed, and no destructor
// runs. All that it refers to outlives it. One thread at a time.
class Exchange {
 public:
  enum class State {
    kWaits,    // the answer is to come
    kDone,     // the output is there
    kRefused,  // outcome() says why
    kEnded,    // the session is of no more use, and was ended
    kNoKey,    // the numbers of the key cannot be had, and nothing was sent
  };

  // RSA: `in` and `out` are as long as the modulus. Others: `in` is what is signed, as
  // service::Sign has it, and `out` the signature.
  Exchange(Session &session, Channel &channel, Key &key, std::span<const uint8_t> in,
           std::span<uint8_t> out)
      : session_(session), channel_(channel), key_(key), in_(in), out_(out) {}

  // Sends the request. The key goes with it unless the service has it.
  State send() { return send(!key_.is_known_in(session_)); }
  // Takes the answer, if it is there. With `waits` it waits for it, but no longer than a second.
  // A service that does not know the key gets the request again.
  State receive(bool waits);
  // Waits for the answer, for kSilence at most.
  State wait();

  // After kRefused.
  service::Outcome outcome() const { return outcome_; }
  bool is_of_slh_dsa() const { return key_.sort().family == service::Family::kSlhDsa; }

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
