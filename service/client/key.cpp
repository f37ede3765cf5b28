// SPDX-License-Identifier: Apache-2.0
#include "service/client/key.h"

namespace lanecrypt::client {

Key::Key(const service::OperationKind &operation_kind)
    : number_(next_number()), operation_kind_(operation_kind) {}

void Key::is_confirmed_in(Session &session) {
  if (is_known_in(session)) return;
  if (confirmed_in_.exchange(session.number(), std::memory_order_acq_rel) != session.number())
    session.keys.fetch_add(1, std::memory_order_relaxed);
}

void Key::is_unknown_in(Session &session) {
  uint64_t before = session.number();
  if (confirmed_in_.compare_exchange_strong(before, 0, std::memory_order_acq_rel))
    session.keys.fetch_sub(1, std::memory_order_relaxed);
}

void Key::forget_in(Session &session) {
  is_unknown_in(session);
  if (sent_in_.load() == session.number()) session.forget_key(number_);
}

}  // namespace lanecrypt::client
