// Decides with the status page whether the service or the caller's own core is faster.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "batch/batch_choice.h"
#include "service/wire/operation_kind.h"

namespace lanecrypt::client {

class Connection;
class Session;

// Thread-safe.
class Choice {
 public:
  using Duration = runtime::BatchChoice::Duration;

  explicit Choice(Connection &connection) : connection_(connection) {}
  // Starts the choice, when the first session begins. `cores`: the cores that this process may use.
  // `of_machine`: the cores of the machine.
  void begin(uint32_t cores, uint32_t of_machine);

  // Counts an operation, and returns whether it justifies a connection to the service: not for the
  // first few operations of a process. One of SLH-DSA always does, since it takes a core so long.
  // `in_line`: as in BatchChoice.
  bool is_worth_connecting(service::Family family, uint32_t in_line);
  // Counts a new key of RSA, and returns whether it justifies a connection. From 4096 bits on it
  // always does, since a core takes long to make such a key.
  bool is_key_worth_it(uint32_t bits);
  // Returns whether to send kLookAgain, so that the page counts the runnable tasks. True at most
  // ten times a second.
  bool wants_look(const Session &session);
  // Returns whether the service is faster. If not, the caller counts as an operation on its core
  // until it calls report_cpu_time(). `in_line`: as in BatchChoice.
  bool is_service_sooner(const service::OperationKind &operation_kind, uint32_t in_line);
  // Ends what is_service_sooner() counted, and records the time. `took` is 0 if it was not
  // measured.
  void report_cpu_time(const service::OperationKind &operation_kind, Duration took);

 private:
  size_t load() const;
  std::optional<Duration> estimate(const service::OperationKind &operation_kind,
                                   Duration guess) const;

  Connection &connection_;
  // Set by the first begin(); owned by `owned_`.
  std::atomic<runtime::BatchChoice *> choice_{nullptr};
  std::unique_ptr<runtime::BatchChoice> owned_;
  uint32_t cores_ = 1;
  std::atomic<uint32_t> operations_{0}, keys_{0}, on_cpu_{0};
  std::atomic<int64_t> asked_at_{0};
};

}  // namespace lanecrypt::client
