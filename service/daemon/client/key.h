// A client's key, in the service's own memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "service/daemon/seat.h"
#include "service/daemon/work/library_keys.h"
#include "service/daemon/work/turns.h"
#include "service/wire/rsa_packets.h"

namespace lanecrypt::service::daemon {

class Channel;
class Session;
struct Counters;

// What a request needs a key for.
struct KeyUse {
  uint64_t number = 0;            // the client's
  Sort sort;                      // of RSA by the input's length
  size_t output_bytes = 0;        // of what the operation gives
  std::optional<KeyParts> parts;  // of the key, if the request brings them
};

class Key : public Waiting, public std::enable_shared_from_this<Key> {
 public:
  enum class State { kUnchecked, kGood, kBad };

  // Its places: among the keys of its user, and its bytes among those of its user and of all.
  struct Seats {
    Seat of_user, bytes_of_user, bytes_of_all;
    bool ok() const { return of_user.ok() && bytes_of_user.ok() && bytes_of_all.ok(); }
  };
  // Of RSA, the length for which a key that a request brings is charged (limits.h); else 0.
  static uint32_t charged_bits_of(const KeyUse &use);
  // Copies the parts that the request has brought. Throws std::bad_alloc where there is no memory
  // that a key may be in.
  Key(std::shared_ptr<Session> session, const KeyUse &use, Seats seats, Counters &counters);
  ~Key();
  Key(const Key &) = delete;

  const std::shared_ptr<Session> session;
  const uint64_t number;

  const Sort &sort() const { return sort_; }
  uint32_t charged_bits() const { return charged_bits_; }
  // Whether it is for this.
  bool suits(const KeyUse &use) const {
    return sort_.family == use.sort.family && output_bytes_ == use.output_bytes &&
           (sort_.family == Family::kRsa || sort_ == use.sort);
  }
  bool has(const KeyParts &parts) const { return parts_.are(parts); }

  // Has the library check it, which takes up to some milliseconds. One thread, once. Throws
  // std::bad_alloc and NotChecked.
  bool check();
  const LibraryKey &checked() const { return *checked_; }

  // ---- Under the session's lock ----
  State state = State::kUnchecked;
  std::vector<std::shared_ptr<Channel>> waiting;  // for the check
  // Stays while it waits for its check.
  std::shared_ptr<Key> in_line;

 private:
  const Seats seats_;
  Counters &counters_;
  const Sort sort_;
  const uint32_t charged_bits_;
  const size_t output_bytes_;
  const StoredParts parts_;
  LibraryKeyPointer checked_;
};

}  // namespace lanecrypt::service::daemon
