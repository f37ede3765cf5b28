// Private operations of RSA and signatures of ML-DSA and SLH-DSA by the service lanecryptd, for a
// context that names it. Also gives access to its RSA key generation.
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
#include "remote/remote_generation.h"
#include "remote/remote_request.h"
#include "remote/service.h"

namespace lanecrypt::remote {

class ServiceSubmitter;

// Thread-safe in the process that made it.
class PrivateOperations {
 public:
  explicit PrivateOperations(Service service);
  ~PrivateOperations() { stop(); }
  // Completes the operations in flight and ends the threads. Later requests are refused. After
  // cancel_pending(), operations that have not begun are not done.
  void stop();
  void cancel_pending();

  // Starts a request, which completes by itself. With `waits` the calling thread sends its
  // operations and receives the answers. Otherwise a thread of this object does, since no other
  // thread would read the answers and complete the request. If it returns an error, nothing was
  // started.
  Status submit(const RemoteRequestPointer &remote, bool waits);

  // As lc_rsa_prefers_device() and lc_rsa_report_cpu_time(), for a kind of operation that the
  // service does.
  bool prefers_device(const service::OperationKind &operation_kind, uint32_t in_line);
  void report_cpu_time(const service::OperationKind &operation_kind, std::chrono::nanoseconds took);

  // Generates RSA keys.
  RemoteGeneration &generation() { return generation_; }

  // Counters of the operations that the CPU does instead of the service.
  const runtime::Counters &cpu_counters() const { return counters_; }

 private:
  void run(ServiceSubmitter &mine);
  void conclude(RemoteRequest &remote);
  Status why_not(const RemoteRequest &remote) const;

  const Service service_;
  runtime::Counters counters_;
  runtime::BatchCpu cpu_{counters_};
  RemoteGeneration generation_{service_, counters_};
  // Wakes the thread while it waits for answers. Without it the thread polls for new requests once
  // a second.
  const client::OwnDescriptor wake_;
  // The number of callers that prefers_device() has told to use the CPU and that have not reported
  // yet.
  std::atomic<uint32_t> on_cpu_{0};

  std::mutex mutex_;  // protects the members below, except the atomic one
  std::condition_variable changed_;
  std::vector<RemoteRequestPointer> queue_;
  bool stopping_ = false;
  std::atomic<bool> cancels_pending_{false};
  std::thread thread_;
};

}  // namespace lanecrypt::remote
