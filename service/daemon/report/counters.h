// Counters of what the service has done, by kinds of operations.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "service/daemon/report/histogram.h"
#include "service/wire/messages.h"
#include "service/wire/status_page.h"

namespace lanecrypt::service::daemon {

// The counters of one kind of operation and one size. Times are in nanoseconds. Their first bucket
// ends at 1.024 us and the last but one at 17 s.
struct KindCounters {
  static constexpr unsigned kFirstTime = 10;

  std::array<std::atomic<uint64_t>, size_t(Outcome::kFaultSigned) + 1> outcomes = {};
  // The number of batches, in units of 2^-32: an operation adds one divided by the operations of
  // its batch.
  std::atomic<uint64_t> batches = 0;
  Histogram batch_operations{0};
  Histogram queue_time{kFirstTime};    // from arrival to the launch
  Histogram device_time{kFirstTime};   // time of the launch
  Histogram service_time{kFirstTime};  // from arrival to the answer

  void count(Outcome outcome) { outcomes[size_t(outcome)].fetch_add(1, std::memory_order_relaxed); }
};

struct Counters {
  std::array<KindCounters, StatusPage::kSizes> rsa_private, rsa_generate;
  std::array<KindCounters, kSignatureSetCount> sign;  // indexed as kSignatureSets
  std::atomic<uint64_t> sessions_total = 0, sessions_refused = 0;
  // Keys that passed their check, but whose results were wrong on the CPU too.
  std::atomic<uint64_t> keys_at_fault = 0;
  std::atomic<uint64_t> keys = 0, channels = 0, sessions = 0;
  std::atomic<uint64_t> under_way = 0;  // operations with keys that the library has now
  // Returns the counters of operations with keys of this kind.
  KindCounters &of(const OperationKind &operation_kind) {
    return operation_kind.family == Family::kRsa
               ? rsa_private[StatusPage::size_of(operation_kind.size)]
               : sign[index_of_set(operation_kind)];
  }
  // Threads of the service that run now, of those that use Running.
  std::atomic<int32_t> running_threads = 0;
};

}  // namespace lanecrypt::service::daemon
