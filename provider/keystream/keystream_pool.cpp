// SPDX-License-Identifier: Apache-2.0
#include "provider/keystream/keystream_pool.h"

#include <openssl/crypto.h>
#include <sys/mman.h>

namespace lanecrypt::provider {

KeystreamPool::~KeystreamPool() {
  for (const Parked &parked : parked_) {
    (void)lc_ticket_wait(parked.ticket, nullptr);
    lc_ticket_free(parked.ticket);
    OPENSSL_cleanse(parked.slab, kSlabBytes);
    free_.push_back(parked.slab);
  }
  for (uint8_t *slab : free_) {
    (void)madvise(slab, kSlabBytes, MADV_DOFORK);
    (void)madvise(slab, kSlabBytes, MADV_DODUMP);
    lc_free_pinned(devices_, slab);
  }
}

bool KeystreamPool::take(uint8_t *slabs[2]) {
  const std::lock_guard lock(mutex_);
  wipe_what_is_over();
  while (free_.size() < 2)
    if (!add_slab()) return false;
  for (int n = 0; n < 2; ++n) {
    slabs[n] = free_.back();
    free_.pop_back();
  }
  return true;
}

bool KeystreamPool::add_slab() {
  void *slab = nullptr;
  if (slabs_ >= most_slabs_) return false;
  free_.reserve(slabs_ + 1);
  parked_.reserve(slabs_ + 1);
  if (lc_alloc_pinned(devices_, kSlabBytes, &slab) != LC_OK) return false;
  // No child gets a copy of it, and no core dump has it.
  (void)madvise(slab, kSlabBytes, MADV_DONTFORK);
  (void)madvise(slab, kSlabBytes, MADV_DONTDUMP);
  free_.push_back(static_cast<uint8_t *>(slab));
  ++slabs_;
  return true;
}

void KeystreamPool::give_back(uint8_t *slab) {
  const std::lock_guard lock(mutex_);
  free_.push_back(slab);
}

void KeystreamPool::park(uint8_t *slab, lc_ticket *ticket) {
  const std::lock_guard lock(mutex_);
  parked_.push_back({slab, ticket});
}

void KeystreamPool::wipe_what_is_over() {
  for (size_t n = 0; n < parked_.size();) {
    if (lc_ticket_status(parked_[n].ticket) == LC_PENDING) {
      ++n;
      continue;
    }
    lc_ticket_free(parked_[n].ticket);
    OPENSSL_cleanse(parked_[n].slab, kSlabBytes);
    free_.push_back(parked_[n].slab);
    parked_[n] = parked_.back();
    parked_.pop_back();
  }
}

}  // namespace lanecrypt::provider
