// SPDX-License-Identifier: Apache-2.0
#include "service/client/operation.h"

namespace lanecrypt::client {

using service::Outcome;

OffloadResult conclude(Connection &connection, const Exchange &exchange, Exchange::State state) {
  switch (state) {
    case Exchange::State::kDone:
      connection.note_answer();
      return OffloadResult::kDone;
    case Exchange::State::kRefused:
      connection.note_answer();
      if (exchange.outcome() == Outcome::kFaultSigned)
        return exchange.is_of_slh_dsa() ? OffloadResult::kRefused : OffloadResult::kFailed;
      return exchange.outcome() == Outcome::kFailed ? OffloadResult::kFailed
                                                    : OffloadResult::kNotTaken;
    case Exchange::State::kEnded:
      // Makes the connection notice the end of the session now, so that the loss is logged now.
      (void)connection.session();
      return OffloadResult::kFailed;
    default:
      return OffloadResult::kNotTaken;
  }
}

OffloadResult run_private(Connection &connection, Key &key, std::span<const uint8_t> in,
                          std::span<uint8_t> out) {
  const std::shared_ptr<Session> session = connection.session();
  if (session == nullptr || !key.has_room_in(*session)) return OffloadResult::kNotTaken;
  Channel *const channel = session->take();
  if (channel == nullptr) {
    (void)connection.session();
    return session->has_ended() ? OffloadResult::kFailed : OffloadResult::kNotTaken;
  }
  session->under_way.fetch_add(1, std::memory_order_relaxed);
  Exchange exchange(*session, *channel, key, in, out);
  Exchange::State state = exchange.send();
  if (state == Exchange::State::kWaits) state = exchange.wait();
  session->under_way.fetch_sub(1, std::memory_order_relaxed);
  if (state == Exchange::State::kEnded)
    session->drop(channel);
  else
    session->give_back(channel);
  return conclude(connection, exchange, state);
}

}  // namespace lanecrypt::client
