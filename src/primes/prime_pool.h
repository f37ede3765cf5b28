// Primes for the next keys, which a device found beside those of a key. Off unless
// lc_options.prime_pool or the environment variable LANECRYPT_PRIME_POOL says how many
// there may be.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "cpu/rsa/prime_candidates.h"
#include "secure/key_memory.h"

namespace lanecrypt::schedule {

// Any thread. Primes lie in memory that is locked where the limits allow it, wiped
// when it goes, and empty in a child of fork; which besides makes a pool of its own.
class PrimePool {
 public:
  // What keys the primes are for: of that many bits each, and that e.
  struct Kind {
    uint32_t bits;
    std::shared_ptr<const cpu::SieveTable> table;
    bool operator==(const Kind &) const = default;
  };

  static constexpr size_t kMost = 65536;

  explicit PrimePool(size_t most) : most_(most) {}
  // As the environment has it.
  static size_t most_by_environment();

  // How many more there may be, of all kinds together.
  size_t room() const;
  // False where there is no room.
  bool put(const Kind &kind, secure::KeyMemory prime);
  // One that nobody gets again; empty where there is none.
  std::optional<secure::KeyMemory> take(const Kind &kind);

 private:
  struct Shelf {
    Kind kind;
    std::deque<secure::KeyMemory> primes;
  };

  const size_t most_;
  mutable std::mutex mutex_;
  size_t count_ = 0;
  std::list<Shelf> shelves_;
};

}  // namespace lanecrypt::schedule
