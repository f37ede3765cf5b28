// The library's keys, one for all clients that have brought the same: the workers of a server
// mostly have one key. It is then checked once, lies in memory once, and goes to the device once
// a batch. A client gets it only if it has brought all its numbers.
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
#include "service/wire/sort.h"

namespace lanecrypt::service::daemon {

// Bits of a big-endian number.
uint32_t bits_of(std::span<const uint8_t> number);

// The library could not look at a key, for want of a device.
struct NotChecked : std::runtime_error {
  NotChecked() : runtime_error("a key was not checked") {}
};

// Wiped when the last client that has brought it has gone.
class LibraryKey {
 public:
  // Has the library check it, which takes some milliseconds, or of SLH-DSA up to seconds. is_good()
  // says how that went.
  // Throws NotChecked.
  LibraryKey(lc_context *context, const Sort &sort, const KeyParts &parts);
  ~LibraryKey();
  LibraryKey(const LibraryKey &) = delete;

  bool is_good() const { return rsa_ != nullptr || ml_dsa_ != nullptr || slh_dsa_ != nullptr; }
  // By its family: the others are nullptr.
  const lc_rsa_key *rsa() const { return rsa_; }
  const lc_ml_dsa_key *ml_dsa() const { return ml_dsa_; }
  const lc_slh_dsa_key *slh_dsa() const { return slh_dsa_; }
  bool is(const KeyParts &parts) const { return parts_.are(parts); }
  // Whether the library has found, by a wrong result, that the key is no good. note_fault() gives
  // whether nobody had noted it before.
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

// Any thread. It outlives the keys.
class LibraryKeys {
 public:
  // Called once, when there is a context, which keys of SLH-DSA need. may_ask: whether it does
  // SLH-DSA now.
  void open(lc_context *context, std::function<bool()> may_ask) {
    may_ask_ = std::move(may_ask);
    context_ = context;
  }
  // nullptr if the library does not take it. Throws std::bad_alloc and NotChecked.
  LibraryKeyPointer get(const Sort &sort, const KeyParts &parts);

 private:
  // What is public of a key and tells it from others: of another set too.
  using PublicPart = std::vector<uint8_t>;

  static PublicPart public_part_of(const Sort &sort, const KeyParts &parts);
  LibraryKeyPointer find(const PublicPart &name, const KeyParts &parts);
  void forget(const PublicPart &name);

  std::atomic<lc_context *> context_ = nullptr;
  std::function<bool()> may_ask_;  // not before there is a context
  std::mutex mutex_;
  // The last key that was made of each, while somebody has it.
  std::map<PublicPart, std::weak_ptr<const LibraryKey>> by_public_part_;
};

}  // namespace lanecrypt::service::daemon
