// New keys of RSA by the service lanecryptd, for a context that names it. What the service does
// not make, the CPU makes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "job/rsa_generation.h"
#include "primes/rsa_generator.h"
#include "served/service.h"
#include "service/client/generation.h"

namespace lanecrypt::served {

// Of one process. Any thread.
class ServedGeneration {
 public:
  // Both must stay longer.
  ServedGeneration(const Service &service, runtime::Counters &cpu_counters)
      : service_(service), cpu_(cpu_counters, LC_FALLBACK_CPU) {}
  // Fails what is under way, and waits for our threads and for the checks of keys. The service
  // learns by the end of the process that nobody wants its keys.
  void stop();
  void hurry() { stopping_ = true; }

  // Makes all keys and gives them to the caller, on the calling thread.
  Status run(RsaGeneration what, lc_result *result);
  // As lc_rsa_generation_is_sooner().
  bool is_sooner(uint32_t bits);

 private:
  struct Run;
  client::Made by_service(Run &run);
  Status by_cpu(Run &run, lc_result *result);
  bool is_right(const RsaGeneration &wish, const lc_rsa_parts &parts);

  const Service &service_;
  std::atomic<bool> stopping_{false};
  // Threads that check a key by OpenSSL, which exit() tears down.
  std::atomic<unsigned> checks_{0};
  runtime::RsaGenerator cpu_;
};

}  // namespace lanecrypt::served
