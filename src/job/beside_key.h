// What users of a key keep beside it for as long as it lives.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace lanecrypt {

class BesideKey {
 public:
  // owner: a number that no other user of keys has.
  explicit BesideKey(uint64_t owner) : owner_(owner) {}
  virtual ~BesideKey() = default;
  BesideKey(const BesideKey &) = delete;

 private:
  friend class BesideKeys;
  const uint64_t owner_;
  BesideKey *next_ = nullptr;
};

// All that is kept beside one key. Any thread, and a child of fork too: there is no lock.
class BesideKeys {
 public:
  BesideKeys() = default;
  ~BesideKeys();
  BesideKeys(const BesideKeys &) = delete;

  // What this owner keeps, or nullptr.
  BesideKey *of(uint64_t owner) const;
  // Keeps it, unless its owner keeps something already. Returns what he has then.
  BesideKey *keep(std::unique_ptr<BesideKey> what);

 private:
  std::atomic<BesideKey *> first_{nullptr};
};

}  // namespace lanecrypt
