// The memory in which devices lay keystream: pinned pieces of one size, of which the
// process has no more than a setting says.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::provider {

// Any thread. A child of fork has one of its own, and none of its parent's memory.
class KeystreamPool {
 public:
  static constexpr size_t kSlabBytes = size_t{4} << 20;

  KeystreamPool(lc_context *devices, uint64_t most_bytes)
      : devices_(devices), most_slabs_(most_bytes / kSlabBytes) {}
  // Waits for the jobs of those that were parked.
  ~KeystreamPool();
  KeystreamPool(const KeystreamPool &) = delete;

  // Two slabs of zeros, or neither: there is no room.
  bool take(uint8_t *slabs[2]);
  // They must be zeros again.
  void give_back(uint8_t *slab);
  // One in which a job, with its ticket, still writes: it is wiped when that is over.
  void park(uint8_t *slab, lc_ticket *ticket);

 private:
  struct Parked {
    uint8_t *slab;
    lc_ticket *ticket;
  };
  void wipe_what_is_over();
  bool add_slab();

  lc_context *const devices_;
  const uint64_t most_slabs_;
  std::mutex mutex_;
  uint64_t slabs_ = 0;  // of all kinds
  std::vector<uint8_t *> free_;
  std::vector<Parked> parked_;
};

}  // namespace lanecrypt::provider
