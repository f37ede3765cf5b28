// Private operations of RSA by the service lanecryptd, for a context that names it.
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
#include "rsa/rsa_request.h"
#include "service/client/client.h"

namespace lanecrypt::served {

struct Served;

// What a context has of the service in this process and in its children.
struct Service {
  // service: as lc_options has it, neither NULL nor "off".
  static Result<Service> named(const char *service, lc_fallback fallback, lc_verify verify);

  std::shared_ptr<client::Client> client;
  uint64_t number = 0;  // no other context has it
  // What the service does not do, the CPU does.
  bool has_cpu = true;
  bool checks_all = false;
};

// Of one process. Any thread.
class ServedRsa {
 public:
  explicit ServedRsa(Service service);
  ~ServedRsa() { stop(); }
  // Finishes what is under way, and ends the threads. Later requests are refused. After hurry()
  // it leaves undone what has not begun.
  void stop();
  void hurry();

  // Starts a request of private operations, which ends by itself. With `waits` this thread does
  // all that is to do with the service. Otherwise a thread of ours does, since nobody else would
  // read the answers and tell the caller. After an error nothing was started.
  Status submit(const runtime::RsaRequestPointer &request, bool waits);

  // As lc_rsa_device_is_sooner() and lc_rsa_ran_on_cpu().
  bool is_sooner(uint32_t bits, uint32_t in_line);
  void ran_on_cpu(uint32_t bits, std::chrono::nanoseconds took);

  // Of the CPU in the service's place.
  const runtime::Counters &cpu_counters() const { return counters_; }

 private:
  void run();
  void conclude(Served &served);
  Status why_not();

  const Service service_;
  runtime::Counters counters_;
  runtime::BatchCpu cpu_{counters_};
  // Ends the thread's wait for answers. Without it the thread looks once a second.
  const client::OwnDescriptor wake_;
  // How often is_sooner() has counted its caller as one at work on its core.
  std::atomic<uint32_t> on_cpu_{0};

  std::mutex mutex_;  // of what is below
  std::condition_variable changed_;
  std::vector<runtime::RsaRequestPointer> queue_;
  bool stopping_ = false;
  std::atomic<bool> hurries_{false};
  std::thread thread_;
};

}  // namespace lanecrypt::served
