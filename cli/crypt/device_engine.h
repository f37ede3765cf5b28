// An engine that submits chunks to the library. Each chunk is a message with its own IV.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/crypt/pipeline.h"
#include "cli/failure.h"
#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

// Converts a library error into a Failure with its exit code and text.
Failure failure_of(const Error &error);

// One device that ran something, such as "cuda:0", and how many bytes it ran.
struct DeviceUse {
  std::string id, name;
  uint64_t bytes = 0;
};

class DeviceEngine : public Engine {
 public:
  // All references must outlive the engine.
  DeviceEngine(const Context &context, const BlockCipherMode &cipher, bool encrypt,
               const SecretBytes &key, Progress &progress);

  bool make_buffers(size_t bytes, uint8_t **in, uint8_t **out) override;
  void start(Chunk &chunk, Done done) override;
  void collect(Chunk &chunk) override;
  void abandon() override {}  // no chunk waits for another

  uint64_t device_bytes() const { return device_bytes_; }
  uint64_t cpu_bytes() const { return cpu_bytes_; }

 private:
  // A submitted job and the callback of its chunk. `ticket` may be used only after two events: the
  // submission has returned, and the job has completed. The second one calls `done`.
  struct Run {
    Done done;
    Ticket ticket;
    std::atomic<int> outstanding{2};
    void one_happened();
  };

  const Context &context_;
  const BlockCipherMode cipher_;
  const bool encrypt_;
  const SecretBytes &key_;
  Progress &progress_;
  std::mutex mutex_;
  std::vector<PinnedBuffer> buffers_;
  std::map<const Chunk *, std::unique_ptr<Run>> runs_;
  std::atomic<uint64_t> device_bytes_{0}, cpu_bytes_{0};
  bool device_named_ = false;
};

// Returns what each device of the context has run, most bytes first; empty if the CPU ran
// everything.
std::vector<DeviceUse> devices_used(const Context &context);

}  // namespace lanecrypt::cli
