// SPDX-License-Identifier: Apache-2.0
#include "primes/prime_pool.h"

#include <stdlib.h>

#include <algorithm>

namespace lanecrypt::runtime {

size_t PrimePool::most_by_environment() {
  const char *text = secure_getenv("LANECRYPT_PRIME_POOL");
  if (text == nullptr || *text < '0' || *text > '9') return 0;
  return std::min<size_t>(strtoul(text, nullptr, 10), kMost);
}

size_t PrimePool::room() const {
  const std::lock_guard lock(mutex_);
  return most_ - count_;
}

bool PrimePool::put(const Kind &kind, secure::KeyMemory prime) {
  const std::lock_guard lock(mutex_);
  if (count_ == most_) return false;
  auto at = std::find_if(shelves_.begin(), shelves_.end(),
                         [&](const Shelf &shelf) { return shelf.kind == kind; });
  if (at == shelves_.end()) {
    at = shelves_.emplace(at);
    at->kind = kind;
  }
  at->primes.push_back(std::move(prime));
  ++count_;
  return true;
}

std::optional<secure::KeyMemory> PrimePool::take(const Kind &kind) {
  const std::lock_guard lock(mutex_);
  for (Shelf &shelf : shelves_) {
    if (!(shelf.kind == kind) || shelf.primes.empty()) continue;
    secure::KeyMemory prime = std::move(shelf.primes.front());
    shelf.primes.pop_front();
    --count_;
    return prime;
  }
  return std::nullopt;
}

}  // namespace lanecrypt::runtime
