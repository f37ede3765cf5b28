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

namespace lanecrypt::service::daemon {

// Wiped when the last client that has brought it has gone.
class LibraryKey {
 public:
  // Has the library check it, which takes up to some milliseconds. is_good() says how that went.
  explicit LibraryKey(const KeyParts &parts);
  ~LibraryKey() { lc_rsa_key_free(key_); }
  LibraryKey(const LibraryKey &) = delete;

  bool is_good() const { return key_ != nullptr; }
  const lc_rsa_key *get() const { return key_; }
  bool is(const KeyParts &parts) const { return parts_.are(parts); }

 private:
  const StoredParts parts_;
  lc_rsa_key *key_ = nullptr;
};
using LibraryKeyPointer = std::shared_ptr<const LibraryKey>;

// Any thread. It outlives the keys.
class LibraryKeys {
 public:
  // nullptr if the library does not take it. Throws std::bad_alloc.
  LibraryKeyPointer get(const KeyParts &parts);

 private:
  using Modulus = std::vector<uint8_t>;

  LibraryKeyPointer find(const Modulus &modulus, const KeyParts &parts);
  void forget(const Modulus &modulus);

  std::mutex mutex_;
  // The last key that was made of each modulus, while somebody has it.
  std::map<Modulus, std::weak_ptr<const LibraryKey>> by_modulus_;
};

}  // namespace lanecrypt::service::daemon
