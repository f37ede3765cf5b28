// A job of messages in host memory on a device: they go there in chunks, while the device hashes
// the chunk before.
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
  uint64_t chunk_bytes = 16 << 20;  // HashLaunch::kMostAlone at least
  std::chrono::milliseconds time_limit{60000};
};

// The device's thread alone. Does one job after the other.
class HostHashes {
 public:
  // The longest leaf that is hashed on a device.
  static constexpr uint64_t kMostLeafBytes = 1 << 20;

  HostHashes(device::Device &device, HashLaunch &launch, Workers &workers,
             HostHashesOptions options)
      : device_(device),
        launch_(launch),
        workers_(workers),
        options_(options),
        check_(options.verify) {}
  Status open();
  // Writes the digests, of all messages or, if it fails, of none.
  Failure run(const HashJob &job);
  // Something that it was given does not end.
  bool is_stuck() const { return is_stuck_; }

 private:
  // A chunk under way.
  struct Slot {
    std::unique_ptr<device::Stream> stream;
    std::unique_ptr<device::Event> done;
    std::unique_ptr<device::Buffer> host, in, pieces;
    bool is_used = false;
    uint64_t bytes = 0;  // of messages, the most in any of its chunks
  };
  // A message that was begun.
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
  // What comes back of a tree, in workspace_.results.
  struct Tree {
    size_t message;
    std::optional<SampledPart> sample;
    uint64_t values_at = 0, values_bytes = 0;  // of the leaves of the sampled part, or of all
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
  Slot *last_ = nullptr;  // whose kernels those of the next chunk follow
  bool is_stuck_ = false;

  // Of the job under way:
  std::vector<size_t> plain_;  // numbers of messages that are no trees
  std::vector<Tree> trees_;
  std::vector<uint32_t> free_states_;
};

}  // namespace lanecrypt::runtime
