// Primes for later keys, which a device found beside those of a key. There are none unless
// lc_options.prime_pool or the environment variable LANECRYPT_PRIME_POOL allows some.
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

// Any thread. Primes are in memory that is locked if the limits allow it, wiped before it is
// freed, and empty in a child of fork. A child also makes its own pool.
class PrimePool {
 public:
  // The keys that the primes are for: primes of so many bits, and that e.
  struct Kind {
    uint32_t bits;
    std::shared_ptr<const cpu::SieveTable> table;
    bool operator==(const Kind &) const = default;
  };

  static constexpr size_t kMost = 65536;

  explicit PrimePool(size_t most) : most_(most) {}
  // The number that the environment variable sets.
  static size_t most_by_environment();

  // How many more primes there may be, of all kinds together.
  size_t room() const;
  // False if there is no room.
  bool put(const Kind &kind, secure::KeyMemory prime);
  // A prime that nobody gets again, or nothing if there is none.
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
