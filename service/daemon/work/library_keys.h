// The library's keys, one for all clients that have brought the same: the workers of a server
// mostly have one key. It is then checked once, lies in memory once, and goes to the device once
// a batch. A client gets it only if it has brought all its numbers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "lanecrypt/lanecrypt.h"
#include "service/daemon/work/stored_parts.h"
#include "service/wire/sort.h"

namespace lanecrypt::service::daemon {

// Wiped when the last client that has brought it has gone.
class LibraryKey {
 public:
  // Has the library check it, which takes up to some milliseconds. is_good() says how that went.
  LibraryKey(const Sort &sort, const KeyParts &parts);
  ~LibraryKey();
  LibraryKey(const LibraryKey &) = delete;

  bool is_good() const { return rsa_ != nullptr || ml_dsa_ != nullptr; }
  // By its family: the other is nullptr.
  const lc_rsa_key *rsa() const { return rsa_; }
  const lc_ml_dsa_key *ml_dsa() const { return ml_dsa_; }
  bool is(const KeyParts &parts) const { return parts_.are(parts); }

 private:
  void take_rsa(const KeyParts &brought);
  void take_ml_dsa(uint32_t set, const KeyParts &brought);

  const StoredParts parts_;
  lc_rsa_key *rsa_ = nullptr;
  lc_ml_dsa_key *ml_dsa_ = nullptr;
};
using LibraryKeyPointer = std::shared_ptr<const LibraryKey>;

// Any thread. It outlives the keys.
class LibraryKeys {
 public:
  // nullptr if the library does not take it. Throws std::bad_alloc.
  LibraryKeyPointer get(const Sort &sort, const KeyParts &parts);

 private:
  // What is public of a key and tells it from others.
  using PublicPart = std::vector<uint8_t>;

  static PublicPart public_part_of(const Sort &sort, const KeyParts &parts);
  LibraryKeyPointer find(const PublicPart &name, const KeyParts &parts);
  void forget(const PublicPart &name);

  std::mutex mutex_;
  // The last key that was made of each, while somebody has it.
  std::map<PublicPart, std::weak_ptr<const LibraryKey>> by_public_part_;
};

}  // namespace lanecrypt::service::daemon
