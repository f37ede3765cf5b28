// The page that the service shares with all its clients, who can only read it: by it a client
// decides whether its own core or the service is sooner, without asking.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "service/wire/sort.h"

namespace lanecrypt::service {

inline constexpr uint32_t kPageMagic = 0x4750434c;  // "LCPG"
inline constexpr uint32_t kPageVersion = 3;

// Any thread of any process. Each number is read and written whole, and tells no secret. A
// client trusts none of them further than to choose between two right ways.
struct StatusPage {
  // Lengths of RSA's modulus: those of up to 256 (n + 1) bits.
  static constexpr size_t kSizes = 32;
  // Up to 2^n operations in the service at once.
  static constexpr size_t kLoads = 18;

  uint32_t magic, version;
  // How many cores the machine's programs share.
  uint32_t cores;
  // Devices that are open and work for RSA. 0: the service does no RSA now.
  std::atomic<uint32_t> usable_devices;
  // Operations that wait or are under way in the service, of all clients.
  std::atomic<uint32_t> operations;
  // Tasks of the machine that ran or wanted to run, without the service's own, and when that
  // was (CLOCK_MONOTONIC, ns). It is kept up to date for a second after a kLookAgain.
  std::atomic<uint32_t> runnable;
  std::atomic<uint64_t> looked_at;
  // Microseconds from the arrival of a private RSA operation to its answer, by its size and by
  // the operations in the service then; 0: not known yet.
  std::atomic<uint32_t> rsa_us[kSizes][kLoads];
  // Devices that are open and work for ML-DSA, which is tried a little after RSA, and those that do
  // SLH-DSA or are not tried yet, which they are when the first key of it comes.
  std::atomic<uint32_t> ml_dsa_devices, slh_dsa_devices;
  // As rsa_us, of signatures, by kSignatureSets.
  std::atomic<uint32_t> sign_us[kSignatureSetCount][kLoads];

  static size_t size_of(uint32_t modulus_bits) {
    return std::min<size_t>((modulus_bits - 1) / 256, kSizes - 1);
  }
  static size_t load_of(uint32_t operations) {
    return std::min<size_t>(size_t(std::bit_width(operations)), kLoads - 1);
  }
  // How long operations of a sort took, in a page that may be written or only read.
  template <class Page>
  static auto &times_of(Page &page, const Sort &sort) {
    return sort.family == Family::kRsa ? page.rsa_us[size_of(sort.size)]
                                       : page.sign_us[place_of_set(sort)];
  }
  uint32_t devices_for(Family family) const {
    const std::atomic<uint32_t> *const counts[] = {&usable_devices, &ml_dsa_devices,
                                                   &slh_dsa_devices};
    return counts[size_t(family)]->load(std::memory_order_relaxed);
  }
};

static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(sizeof(StatusPage) <= 4096);
inline constexpr size_t kStatusPageBytes = 4096;

}  // namespace lanecrypt::service
