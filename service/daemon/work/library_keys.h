// The library's keys. Clients that bring the same key share one: the workers of a server mostly use
// one key, which is then checked once, stored once, and copied to the device once per batch. A
// client gets the shared key only if it has brought all its numbers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lanecrypt/lanecrypt.h"
#include "service/daemon/work/stored_parts.h"
#include "service/wire/operation_kind.h"

namespace lanecrypt::service::daemon {

// Returns the number of bits of a big-endian number.
uint32_t bits_of(std::span<const uint8_t> number);

// The library could not check a key, since it has no device for that.
struct NotChecked : std::runtime_error {
  NotChecked() : runtime_error("a key was not checked") {}
};

// A key in the library. It is wiped when the last client that has brought it has gone.
class LibraryKey {
 public:
  // Has the library check the key; is_good() returns the result. It takes some milliseconds, or
  // seconds for SLH-DSA. Throws NotChecked.
  LibraryKey(lc_context *context, const OperationKind &operation_kind, const KeyParts &parts);
  ~LibraryKey();
  LibraryKey(const LibraryKey &) = delete;

  bool is_good() const { return rsa_ != nullptr || ml_dsa_ != nullptr || slh_dsa_ != nullptr; }
  // The key of its family is set. The others are nullptr.
  const lc_rsa_key *rsa() const { return rsa_; }
  const lc_ml_dsa_key *ml_dsa() const { return ml_dsa_; }
  const lc_slh_dsa_key *slh_dsa() const { return slh_dsa_; }
  bool is(const KeyParts &parts) const { return parts_.are(parts); }
  // Returns whether the library has found, by a wrong result, that the key is invalid. note_fault()
  // notes that, and returns whether it was not noted before.
  bool is_at_fault() const { return is_at_fault_.load(std::memory_order_relaxed); }
  bool note_fault() const { return !is_at_fault_.exchange(true); }

 private:
  void take_rsa(const KeyParts &brought);
  void take_ml_dsa(uint32_t set, const KeyParts &brought);
  void take_slh_dsa(lc_context *context, uint32_t set, const KeyParts &brought);

  const StoredParts parts_;
  mutable std::atomic<bool> is_at_fault_ = false;
  lc_rsa_key *rsa_ = nullptr;
  lc_ml_dsa_key *ml_dsa_ = nullptr;
  lc_slh_dsa_key *slh_dsa_ = nullptr;
};
using LibraryKeyPointer = std::shared_ptr<const LibraryKey>;

// Thread-safe. It must outlive the keys.
class LibraryKeys {
 public:
  // Called once, when the context exists. Keys of SLH-DSA need it. `may_ask` returns whether the
  // context does SLH-DSA now.
  void open(lc_context *context, std::function<bool()> may_ask) {
    may_ask_ = std::move(may_ask);
    context_ = context;
  }
  // Returns the library's key, or nullptr if the library refuses it. Throws std::bad_alloc and
  // NotChecked.
  LibraryKeyPointer get(const OperationKind &operation_kind, const KeyParts &parts);

 private:
  // The public part of a key, with its family and set, which identifies it.
  using PublicPart = std::vector<uint8_t>;

  static PublicPart public_part_of(const OperationKind &operation_kind, const KeyParts &parts);
  LibraryKeyPointer find(const PublicPart &name, const KeyParts &parts);
  void forget(const PublicPart &name);

  std::atomic<lc_context *> context_ = nullptr;
  std::function<bool()> may_ask_;  // set before the context
  std::mutex mutex_;
  // The key that was made last for each public part, for as long as it is in use.
  std::map<PublicPart, std::weak_ptr<const LibraryKey>> by_public_part_;
};

}  // namespace lanecrypt::service::daemon
