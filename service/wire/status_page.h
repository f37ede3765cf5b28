// The page that the service shares with all its clients. Clients can only read it. With it a client
// decides, without a request, whether its own core or the service is faster.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "service/wire/operation_kind.h"

namespace lanecrypt::service {

inline constexpr uint32_t kPageMagic = 0x4750434c;  // "LCPG"
inline constexpr uint32_t kPageVersion = 3;

// Any thread of any process may read it. Each number is read and written atomically, and none is
// secret. A client must trust no number for more than the choice between its core and the service,
// which are both correct.
struct StatusPage {
  // Sizes of RSA keys: index n stands for more than 256 n and at most 256 (n + 1) bits of the
  // modulus.
  static constexpr size_t kSizes = 32;
  // Loads: index n stands for 2^(n-1) to 2^n - 1 operations in the service at once. Index 0 stands
  // for none, and the last index for all larger numbers.
  static constexpr size_t kLoads = 18;

  uint32_t magic, version;
  // The number of cores of the machine.
  uint32_t cores;
  // Devices that are open and do RSA. 0: the service does no RSA now.
  std::atomic<uint32_t> usable_devices;
  // Operations of all clients that wait or are under way in the service.
  std::atomic<uint32_t> operations;
  // Runnable tasks of the machine, without the service's own threads, and the time of that count
  // (CLOCK_MONOTONIC, ns). The service updates both for a second after a kLookAgain.
  std::atomic<uint32_t> runnable;
  std::atomic<uint64_t> looked_at;
  // Microseconds from the arrival of a private RSA operation to its answer, by the size of the key
  // and by the number of operations in the service at its arrival. 0: not known yet.
  std::atomic<uint32_t> rsa_us[kSizes][kLoads];
  // Devices that are open and do ML-DSA, which the service tries a little after RSA; and devices
  // that do SLH-DSA or have not been tried for it, which the service does when the first key of
  // SLH-DSA comes.
  std::atomic<uint32_t> ml_dsa_devices, slh_dsa_devices;
  // As rsa_us for signatures, indexed as kSignatureSets.
  std::atomic<uint32_t> sign_us[kSignatureSetCount][kLoads];

  static size_t size_of(uint32_t modulus_bits) {
    return std::min<size_t>((modulus_bits - 1) / 256, kSizes - 1);
  }
  static size_t load_of(uint32_t operations) {
    return std::min<size_t>(size_t(std::bit_width(operations)), kLoads - 1);
  }
  // Returns the times of a kind of operation, of a writable or a read-only page.
  template <class Page>
  static auto &times_of(Page &page, const OperationKind &operation_kind) {
    return operation_kind.family == Family::kRsa ? page.rsa_us[size_of(operation_kind.size)]
                                                 : page.sign_us[index_of_set(operation_kind)];
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
