// Whether the service or the caller's own core is sooner, by the page that the service shares.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "batch/batch_choice.h"
#include "service/wire/sort.h"

namespace lanecrypt::client {

class Connection;
class Session;

// Any thread.
class Choice {
 public:
  using Duration = runtime::BatchChoice::Duration;

  explicit Choice(Connection &connection) : connection_(connection) {}
  // Called when there first is a session. `cores`: those that this process may use; `of_machine`:
  // those of the machine.
  void begin(uint32_t cores, uint32_t of_machine);

  // Counts an operation. False for the first few of a process, which are no reason to connect
  // to the service. One of SLH-DSA takes a core so long that it is.
  bool is_worth_connecting(service::Family family, uint32_t in_line);
  // The same for a new key, which to make on a core takes long from 4096 bits on.
  bool is_key_worth_it(uint32_t bits);
  // Whether the page should be made to tell how many tasks want to run. True no more than ten
  // times a second.
  bool wants_look(const Session &session);
  // Whether the service is sooner. If not, the caller counts as one at work on its core until
  // ran_on_cpu(). in_line: as in BatchChoice.
  bool is_service_sooner(const service::Sort &sort, uint32_t in_line);
  // 0: it was not measured.
  void ran_on_cpu(const service::Sort &sort, Duration took);

 private:
  size_t load() const;
  std::optional<Duration> estimate(const service::Sort &sort, Duration guess) const;

  Connection &connection_;
  // Made by the first begin().
  std::atomic<runtime::BatchChoice *> choice_{nullptr};
  std::unique_ptr<runtime::BatchChoice> owned_;
  uint32_t cores_ = 1;
  std::atomic<uint32_t> operations_{0}, keys_{0}, on_cpu_{0};
  std::atomic<int64_t> asked_at_{0};
};

}  // namespace lanecrypt::client
