// A job of many operations on its way: what is left to do of it. A family says what an
// operation is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "batch/batch_kind.h"
#include "thread/completion.h"

namespace lanecrypt::runtime {

// Whose fault it was that a device gave a wrong result, as the CPU found when it did the operation
// again.
struct Repaired {
  enum class Fault {
    kDevice,  // the CPU's result is right, and written
    kKey,     // no result with that key is right
    kUnknown  // the CPU could not do it
  };
  Fault fault = Fault::kDevice;
  Status status;  // unless it is kDevice: why the operation has no result
};

// Shared as a Request is.
class BatchRequest : public Completion {
 public:
  BatchRequest(size_t operations, Callback on_end);

  // ---- The family's, of operations by their numbers; any thread ----
  // The number of a device, LC_ANY_DEVICE or LC_CPU.
  virtual uint32_t device() const = 0;
  virtual BatchKind kind_of(uint32_t operation) const = 0;
  // False of what would take a core minutes, so that only a device does it.
  virtual bool suits_cpu(uint32_t) const { return true; }
  // What the counters call its bytes.
  virtual uint32_t bytes_of(uint32_t operation) const = 0;
  // Does one on the CPU. A device that failed has left its input whole, and a wrong result
  // of one was written nowhere. It may throw for lack of memory.
  virtual Status run_on_cpu(uint32_t operation) = 0;
  // Does again, on the CPU, what a device did wrong, and checks the result by the public key if
  // there is one. By default whatever the CPU gives is right.
  virtual Repaired repair_on_cpu(uint32_t operation);
  // The job has failed: what was reported of it so far does not hold.
  virtual void withdraw_results() {}
  // On the caller's thread, before a device gets it: what that would wait for, and what a thread of
  // ours may not do. An error ends the call.
  virtual Status prepare_for_device() { return Status(); }

  size_t operations() const { return operations_; }
  // The same as run_on_cpu(), on a thread from which nothing may be thrown.
  Status do_on_cpu(uint32_t operation);
  // The same as repair_on_cpu(), on such a thread.
  Repaired repair(uint32_t operation);

  // Whose job it is (lc_completion.owner).
  const uint64_t owner;

  // ---- For the current owner of the request ----
  std::vector<uint32_t> todo;  // numbers of operations, the next at the end
  uint32_t under_way = 0;      // operations
  // The devices, by their numbers, that could not finish it.
  std::vector<uint32_t> tried;
  bool on_device_counted = false, on_cpu_counted = false;
  // When a batcher last took it.
  std::chrono::steady_clock::time_point submitted;
  // In a batcher, whose threads end the operations of one request side by side:
  std::mutex mutex;                    // of what is above and of the result
  Status leaves;                       // why the last of its operations that failed did
  std::shared_ptr<BatchRequest> next;  // the next in the list of the completion threads

  bool is_over() const { return under_way == 0 && (todo.empty() || !failure.ok()); }
  void end() {
    if (!failure.ok()) withdraw_results();
    result.failed_devices = tried.size();
    complete();
  }

 private:
  const size_t operations_;
};

using BatchRequestPointer = std::shared_ptr<BatchRequest>;

// One operation of a request.
struct BatchItem {
  BatchRequestPointer request;
  uint32_t number;
};

}  // namespace lanecrypt::runtime
