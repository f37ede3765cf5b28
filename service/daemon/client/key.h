// A client's key, in the service's own memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "service/daemon/seat.h"
#include "service/daemon/work/library_keys.h"
#include "service/daemon/work/turns.h"
#include "service/wire/rsa_packets.h"

namespace lanecrypt::service::daemon {

class Channel;
class Session;
struct Counters;

class Key : public Waiting, public std::enable_shared_from_this<Key> {
 public:
  enum class State { kUnchecked, kGood, kBad };

  // Copies the parts. Throws std::bad_alloc where there is no memory that a key may be in.
  Key(std::shared_ptr<Session> session, uint64_t number, const KeyParts &parts, Seat of_user,
      Counters &counters);
  ~Key();
  Key(const Key &) = delete;

  const std::shared_ptr<Session> session;
  const uint64_t number;

  size_t modulus_bytes() const { return modulus_bytes_; }
  uint32_t modulus_bits() const { return modulus_bits_; }
  bool has(const KeyParts &parts) const { return parts_.are(parts); }

  // Has the library check it, which takes up to some milliseconds. One thread, once. Throws
  // std::bad_alloc.
  bool check();
  const lc_rsa_key *checked() const { return checked_->get(); }

  // ---- Under the session's lock ----
  State state = State::kUnchecked;
  std::vector<std::shared_ptr<Channel>> waiting;  // for the check
  // Stays while it waits for its check.
  std::shared_ptr<Key> in_line;

 private:
  const Seat of_user_;
  Counters &counters_;
  const size_t modulus_bytes_;
  const uint32_t modulus_bits_;
  const StoredParts parts_;
  LibraryKeyPointer checked_;
};

}  // namespace lanecrypt::service::daemon
