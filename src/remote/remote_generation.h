// New RSA keys by the service lanecryptd, for a context that names it. The CPU makes the keys that
// the service does not make.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "job/rsa_generation.h"
#include "primes/rsa_generator.h"
#include "remote/service.h"
#include "service/client/generation.h"

namespace lanecrypt::remote {

// Thread-safe in the process that made it.
class RemoteGeneration {
 public:
  // Both arguments must outlive this object.
  RemoteGeneration(const Service &service, runtime::Counters &cpu_counters)
      : service_(service), cpu_(cpu_counters, LC_FALLBACK_CPU) {}
  // Fails the calls in progress, and waits for the CPU's threads and for the checks of keys. The
  // service stops searching when the process has ended.
  void stop();
  void cancel_pending() { stopping_ = true; }

  // Makes all keys and passes them to the caller, on the calling thread.
  Status run(RsaGeneration what, lc_result *result);
  // As lc_rsa_generation_prefers_device().
  bool prefers_device(uint32_t bits);

 private:
  struct Run;
  client::Made by_service(Run &run);
  Status by_cpu(Run &run, lc_result *result);
  bool is_right(const RsaGeneration &wish, const lc_rsa_parts &parts);

  const Service &service_;
  std::atomic<bool> stopping_{false};
  // The number of threads that check a key with OpenSSL, which exit() tears down.
  std::atomic<unsigned> checks_{0};
  runtime::RsaGenerator cpu_;
};

}  // namespace lanecrypt::remote
