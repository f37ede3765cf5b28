// Private operations of RSA, and signatures by ML-DSA and SLH-DSA, by the service lanecryptd, for a
// context that names it. It makes keys of RSA too.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "batch/batch_cpu.h"
#include "served/served_generation.h"
#include "served/served_request.h"
#include "served/service.h"

namespace lanecrypt::served {

class Crossing;

// Of one process. Any thread.
class PrivateOperations {
 public:
  explicit PrivateOperations(Service service);
  ~PrivateOperations() { stop(); }
  // Finishes what is under way, and ends the threads. Later requests are refused. After hurry()
  // it leaves undone what has not begun.
  void stop();
  void hurry();

  // Starts a request, which ends by itself. With `waits` this thread does
  // all that is to do with the service. Otherwise a thread of ours does, since nobody else would
  // read the answers and tell the caller. After an error nothing was started.
  Status submit(const ServedRequestPointer &served, bool waits);

  // As lc_rsa_device_is_sooner() and lc_rsa_ran_on_cpu(), for a sort that the service knows.
  bool is_sooner(const service::Sort &sort, uint32_t in_line);
  void ran_on_cpu(const service::Sort &sort, std::chrono::nanoseconds took);

  // New keys of RSA.
  ServedGeneration &generation() { return generation_; }

  // Of the CPU in the service's place.
  const runtime::Counters &cpu_counters() const { return counters_; }

 private:
  void run(Crossing &mine);
  void conclude(ServedRequest &served);
  Status why_not(const ServedRequest &served) const;

  const Service service_;
  runtime::Counters counters_;
  runtime::BatchCpu cpu_{counters_};
  ServedGeneration generation_{service_, counters_};
  // Ends the thread's wait for answers. Without it the thread looks once a second.
  const client::OwnDescriptor wake_;
  // How often is_sooner() has counted its caller as one at work on its core.
  std::atomic<uint32_t> on_cpu_{0};

  std::mutex mutex_;  // of what is below
  std::condition_variable changed_;
  std::vector<ServedRequestPointer> queue_;
  bool stopping_ = false;
  std::atomic<bool> hurries_{false};
  std::thread thread_;
};

}  // namespace lanecrypt::served
