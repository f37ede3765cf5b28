// A client's key, copied into the service's memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "service/daemon/quota.h"
#include "service/daemon/work/fair_queue.h"
#include "service/daemon/work/library_keys.h"
#include "service/wire/rsa_packets.h"

namespace lanecrypt::service::daemon {

class Channel;
class Session;
struct Counters;

// What a request says of the key that it uses.
struct KeyUse {
  uint64_t number = 0;            // the client's number of the key
  OperationKind operation_kind;   // RSA: by the length of the input
  size_t output_bytes = 0;        // the length of the operation's output
  std::optional<KeyParts> parts;  // set if the request carries the key
};

class Key : public Waiting, public std::enable_shared_from_this<Key> {
 public:
  enum class State { kUnchecked, kGood, kBad };

  // The key's share of the limits: of the number of keys of its user, and of the bytes of keys of
  // its user and of all users.
  struct Quotas {
    Quota of_user, bytes_of_user, bytes_of_all;
    bool ok() const { return of_user.ok() && bytes_of_user.ok() && bytes_of_all.ok(); }
  };
  // Returns the length in bits for which an RSA key in a request is charged (limits.h); 0 for other
  // families.
  static uint32_t charged_bits_of(const KeyUse &use);
  // Copies the parts of the key from the request. Throws std::bad_alloc if there is no locked
  // memory.
  Key(std::shared_ptr<Session> session, const KeyUse &use, Quotas quotas, Counters &counters);
  ~Key();
  Key(const Key &) = delete;

  const std::shared_ptr<Session> session;
  const uint64_t number;

  const OperationKind &operation_kind() const { return operation_kind_; }
  uint32_t charged_bits() const { return charged_bits_; }
  // Returns whether the key is usable for this request.
  bool suits(const KeyUse &use) const {
    return operation_kind_.family == use.operation_kind.family &&
           output_bytes_ == use.output_bytes &&
           (operation_kind_.family == Family::kRsa || operation_kind_ == use.operation_kind);
  }
  bool has(const KeyParts &parts) const { return parts_.are(parts); }

  // Has the library check the key. Called once, by one thread. RSA and ML-DSA take some
  // milliseconds; SLH-DSA may take seconds. Throws std::bad_alloc and NotChecked.
  bool check();
  const LibraryKey &checked() const { return *checked_; }

  // ---- Under the session's lock ----
  State state = State::kUnchecked;
  std::vector<std::shared_ptr<Channel>> waiting;  // channels whose requests wait for the check
  // Keeps the key alive while it waits for its check.
  std::shared_ptr<Key> in_line;

 private:
  const Quotas quotas_;
  Counters &counters_;
  const OperationKind operation_kind_;
  const uint32_t charged_bits_;
  const size_t output_bytes_;
  const StoredParts parts_;
  LibraryKeyPointer checked_;
};

}  // namespace lanecrypt::service::daemon
