// SPDX-License-Identifier: Apache-2.0
#include "job/beside_key.h"

namespace lanecrypt {

BesideKeys::~BesideKeys() {
  for (BesideKey *at = first_.load(), *next; at != nullptr; at = next) {
    next = at->next_;
    delete at;
  }
}

BesideKey *BesideKeys::of(uint64_t owner) const {
  BesideKey *at = first_.load(std::memory_order_acquire);
  while (at != nullptr && at->owner_ != owner) at = at->next_;
  return at;
}

BesideKey *BesideKeys::keep(std::unique_ptr<BesideKey> what) {
  BesideKey *first = first_.load(std::memory_order_acquire);
  do {
    // Another thread may have come first.
    if (BesideKey *const its = of(what->owner_); its != nullptr) return its;
    what->next_ = first;
  } while (!first_.compare_exchange_weak(first, what.get(), std::memory_order_acq_rel));
  return what.release();
}

}  // namespace lanecrypt
