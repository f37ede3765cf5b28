// The memory into which devices write keystream: pinned slabs of one size. The process
// has no more of them than a setting allows.
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

// Any thread. A child of fork has a pool of its own, and none of its parent's memory.
class KeystreamPool {
 public:
  static constexpr size_t kSlabBytes = size_t{4} << 20;

  KeystreamPool(lc_context *devices, uint64_t most_bytes)
      : devices_(devices), most_slabs_(most_bytes / kSlabBytes) {}
  // Waits for the jobs of the parked slabs.
  ~KeystreamPool();
  KeystreamPool(const KeystreamPool &) = delete;

  // Two slabs of zeros; false, and neither, if there is no room.
  bool take(uint8_t *slabs[2]);
  // The slab must be zeros again.
  void give_back(uint8_t *slab);
  // Takes a slab into which a job, with its ticket, still writes. It is wiped when the
  // job is over.
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
  uint64_t slabs_ = 0;  // all slabs, wherever they are
  std::vector<uint8_t *> free_;
  std::vector<Parked> parked_;
};

}  // namespace lanecrypt::provider
