// Primes for later keys, which a device found in addition to those of a key. The pool is empty
// unless lc_options.prime_pool or the environment variable LANECRYPT_PRIME_POOL allows primes.
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

namespace lanecrypt::runtime {

// `PrimePool` keeps primes. Thread-safe. Primes are in memory that is locked if the limits allow
// it, that is wiped before it is freed, and that is zero in a child of fork(). A child also makes
// its own pool.
class PrimePool {
 public:
  // The keys that a prime is for: the length of the prime in bits, and e.
  struct Kind {
    uint32_t bits;
    std::shared_ptr<const cpu::SieveTable> table;
    bool operator==(const Kind &) const = default;
  };

  static constexpr size_t kMost = 65536;

  explicit PrimePool(size_t most) : most_(most) {}
  // Returns the limit that the environment variable sets.
  static size_t most_by_environment();

  // Returns how many more primes the pool accepts, of all kinds together.
  size_t room() const;
  // Adds a prime. Returns false if the pool is full.
  bool put(const Kind &kind, secure::KeyMemory prime);
  // Removes and returns a prime, or returns nothing if there is none.
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

}  // namespace lanecrypt::runtime
