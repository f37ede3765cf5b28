// Runs chunks through the library. Each is a message with its own IV.
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

// The exit code for a library error, and its text.
Failure failure_of(const Error &error);

// The devices that ran something, most bytes first, such as "cuda:0"; "cpu" if none did.
struct DeviceUse {
  std::string id, name;
  uint64_t bytes = 0;
};

class DeviceEngine : public Engine {
 public:
  // The key must stay while the engine lives.
  DeviceEngine(const Context &context, const BlockCipherMode &cipher, bool encrypt,
               const SecretBytes &key, Progress &progress);

  bool make_buffers(size_t bytes, uint8_t **in, uint8_t **out) override;
  void start(Chunk &chunk, Done done) override;
  void collect(Chunk &chunk) override;
  void abandon() override {}  // no chunk waits for another

  uint64_t device_bytes() const { return device_bytes_; }
  uint64_t cpu_bytes() const { return cpu_bytes_; }

 private:
  // A job and what follows it for its chunk. The ticket may be used only when two things
  // have happened: the submission returned, and the job ended.
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

// What each device of the context has run; empty if all ran on the CPU.
std::vector<DeviceUse> devices_used(const Context &context);

}  // namespace lanecrypt::cli
