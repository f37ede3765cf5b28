// A private key as its owner names it to the service.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "secure/key_memory.h"
#include "service/client/session.h"
#include "service/wire/rsa_packets.h"
#include "service/wire/sort.h"

namespace lanecrypt::client {

// The numbers of a private key of RSA, or the bytes of another, in memory that is wiped.
struct KeyNumbers {
  secure::KeyMemory memory;
  service::KeyParts parts;
};

// Any thread. A child of fork may use it too, in a session of its own.
class Key {
 public:
  explicit Key(const service::Sort &sort);
  Key(const Key &) = delete;

  // Never 0, and no other key of this process has it.
  uint64_t number() const { return number_; }
  const service::Sort &sort() const { return sort_; }
  // The numbers, for a service that does not have them yet. False: they cannot be had.
  virtual bool copy_numbers(KeyNumbers &to) const = 0;

  // Whether the service has confirmed that it has the key.
  bool is_known_in(const Session &session) const {
    return confirmed_in_.load(std::memory_order_acquire) == session.number();
  }
  // Whether it may be sent: the service takes only so many.
  bool has_room_in(const Session &session) const {
    return is_known_in(session) ||
           session.keys.load(std::memory_order_relaxed) < session.most_keys();
  }
  void was_sent_in(const Session &session) { sent_in_.store(session.number()); }
  void is_confirmed_in(Session &session);
  void is_unknown_in(Session &session);
  // The service does not take it.
  void refuse() { is_refused_.store(true, std::memory_order_relaxed); }
  bool is_refused() const { return is_refused_.load(std::memory_order_relaxed); }
  // Has the service forget it. Nobody uses it any more.
  void forget_in(Session &session);

 protected:
  ~Key() = default;

 private:
  const uint64_t number_;
  const service::Sort sort_;
  // Numbers of sessions.
  std::atomic<uint64_t> sent_in_{0}, confirmed_in_{0};
  std::atomic<bool> is_refused_{false};
};

}  // namespace lanecrypt::client
