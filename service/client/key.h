// A private key and the number under which the service knows it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "secure/key_memory.h"
#include "service/client/session.h"
#include "service/wire/operation_kind.h"
#include "service/wire/rsa_packets.h"

namespace lanecrypt::client {

// The numbers of an RSA private key, or the bytes of another private key. If they were copied, they
// lie in `memory`, which is wiped.
struct KeyNumbers {
  secure::KeyMemory memory;
  service::KeyParts parts;
};

// Thread-safe. A child of fork() may use it too, in its own session.
class Key {
 public:
  explicit Key(const service::OperationKind &operation_kind);
  Key(const Key &) = delete;

  // Never 0, and unique in the process.
  uint64_t number() const { return number_; }
  const service::OperationKind &operation_kind() const { return operation_kind_; }
  // Stores the numbers of the key in `to`, for a service that does not have them. Returns false if
  // they are not available.
  virtual bool copy_numbers(KeyNumbers &to) const = 0;

  // Returns whether the service has confirmed that it has the key.
  bool is_known_in(const Session &session) const {
    return confirmed_in_.load(std::memory_order_acquire) == session.number();
  }
  // Returns whether the key may be sent: the service takes a limited number of keys.
  bool has_room_in(const Session &session) const {
    return is_known_in(session) ||
           session.keys.load(std::memory_order_relaxed) < session.most_keys();
  }
  void was_sent_in(const Session &session) { sent_in_.store(session.number()); }
  void is_confirmed_in(Session &session);
  void is_unknown_in(Session &session);
  // Notes that the service refused the key as bad.
  void refuse() { is_refused_.store(true, std::memory_order_relaxed); }
  bool is_refused() const { return is_refused_.load(std::memory_order_relaxed); }
  // Tells the service to forget the key. No thread may use it any more.
  void forget_in(Session &session);

 protected:
  ~Key() = default;

 private:
  const uint64_t number_;
  const service::OperationKind operation_kind_;
  // Session numbers; 0: none.
  std::atomic<uint64_t> sent_in_{0}, confirmed_in_{0};
  std::atomic<bool> is_refused_{false};
};

}  // namespace lanecrypt::client
