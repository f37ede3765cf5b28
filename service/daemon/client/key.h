// A client's key, in the service's own memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "lanecrypt/lanecrypt.h"
#include "secure/key_memory.h"
#include "service/daemon/seat.h"
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

  size_t modulus_bytes() const { return part_bytes_[kN]; }
  uint32_t modulus_bits() const { return modulus_bits_; }
  // Whether all parts are the same. It takes as long wherever they differ; but lengths are
  // no secret.
  bool has(const KeyParts &parts) const;

  // Makes the library check it, which takes up to some milliseconds. One thread, once.
  bool check();
  const lc_rsa_key *checked() const { return checked_; }

  // ---- Under the session's lock ----
  State state = State::kUnchecked;
  std::vector<std::shared_ptr<Channel>> waiting;  // for the check
  // Stays while it waits for its check.
  std::shared_ptr<Key> in_line;

 private:
  std::span<const uint8_t> part(size_t n) const;

  const Seat of_user_;
  Counters &counters_;
  std::array<uint16_t, kKeyParts> part_bytes_ = {};
  uint32_t modulus_bits_ = 0;
  secure::KeyMemory parts_;  // one after the other
  lc_rsa_key *checked_ = nullptr;
};

}  // namespace lanecrypt::service::daemon
