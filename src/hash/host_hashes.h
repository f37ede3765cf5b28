// Hash jobs with messages in host memory, on a device. Messages are uploaded in chunks, while the
// device hashes the previous chunk.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "batch/failure.h"
#include "hash/hash_check.h"
#include "hash/hash_launch.h"
#include "hash/hash_request.h"
#include "thread/workers.h"

namespace lanecrypt::runtime {

struct HostHashesOptions {
  lc_verify verify = LC_VERIFY_SAMPLED;
  uint64_t chunk_bytes = 16 << 20;  // at least HashLaunch::kMostAlone
  std::chrono::milliseconds time_limit{60000};
};

// `HostHashes` runs one job after another. Only the device's thread may use it.
class HostHashes {
 public:
  // The longest leaf that a device hashes, in bytes.
  static constexpr uint64_t kMostLeafBytes = 1 << 20;

  HostHashes(device::Device &device, HashLaunch &launch, Workers &workers,
             HostHashesOptions options)
      : device_(device),
        launch_(launch),
        workers_(workers),
        options_(options),
        check_(options.verify) {}
  Status open();
  // Writes the digests of all messages or, if it fails, of none. Waits for the result.
  Failure run(const HashJob &job);
  // Whether work of this object does not finish within the time limit.
  bool is_stuck() const { return is_stuck_; }

 private:
  // A chunk in flight.
  struct Slot {
    std::unique_ptr<device::Stream> stream;
    std::unique_ptr<device::Event> done;
    std::unique_ptr<device::Buffer> host, in, pieces;
    bool is_used = false;
    uint64_t bytes = 0;  // the most message bytes in any of its chunks
  };
  // A message of which a part is hashed.
  struct Begun {
    size_t message;
    uint64_t done;
    uint32_t state;
  };
  // A copy from a message to a chunk.
  struct Copy {
    const uint8_t *from;
    uint64_t to, bytes;
  };
  // What is downloaded of a tree, in workspace_.results.
  struct Tree {
    size_t message;
    std::optional<SampledPart> sample;
    // values of the leaves of the sampled part, or of all leaves
    uint64_t values_at = 0, values_bytes = 0;
    uint64_t parts_at = 0, parts_bytes = 0;
  };

  Status begin(const HashJob &job);
  Status wait(device::Event &event);
  Result<Slot *> next_slot();
  Status follow(Slot &slot);
  void copy(Slot &slot, std::span<const Copy> copies);
  uint64_t block_of(const HashJob &job) const;
  Status hash_messages(const HashJob &job);
  Status hash_chunk(const HashJob &job, std::vector<Begun> &begun);
  Status hash_tree(const HashJob &job, Tree &tree);
  Status take_values(const HashJob &job, Tree &tree, uint64_t first, uint64_t count);
  Status bring_back(const HashJob &job);
  Status check(const HashJob &job);
  Status wipe_device(const HashJob &job);
  void wipe_host(const HashJob &job);

  device::Device &device_;
  HashLaunch &launch_;
  Workers &workers_;
  const HostHashesOptions options_;
  HashCheck check_;
  HashWorkspace workspace_;
  std::array<Slot, 2> slots_;
  size_t turn_ = 0;
  Slot *last_ = nullptr;  // the slot whose kernels the next chunk's follow
  bool is_stuck_ = false;

  // The state of the job in progress:
  std::vector<size_t> plain_;  // indices of messages that are not trees
  std::vector<Tree> trees_;
  std::vector<uint32_t> free_states_;
};

}  // namespace lanecrypt::runtime
