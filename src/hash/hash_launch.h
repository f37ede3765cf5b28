// Launches of the kernels of hashes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "batch/launch_memory.h"
#include "device/device.h"
#include "job/hash_job.h"
#include "kernels/hash/hash_layout.h"

namespace lanecrypt::runtime {

// The memory of one job on a device. It grows as needed, and is used again.
struct HashWorkspace {
  std::unique_ptr<device::Buffer> small;                // pinned: BLAKE3's key
  std::unique_ptr<device::Buffer> table_host, results;  // pinned
  std::unique_ptr<device::Buffer> key, table, states, digests, values, levels;
};

// Messages on the device for one launch.
struct HashInputs {
  const device::Buffer *pieces;  // HashPiece
  uint32_t count;
  uint64_t longest;          // of the pieces
  const device::Buffer *in;  // the base of the inputs; nullptr: pieces have addresses
  const device::Buffer *out;
};

// Leaves of one message's tree.
struct HashLeaves {
  const device::Buffer *in;
  uint64_t at, bytes;  // of the first leaf, and what the message has from there
  uint64_t first;      // the number of the first leaf
  uint32_t count;
  uint64_t to;  // the place of its value in workspace.values
};

// For the device's thread only.
class HashLaunch {
 public:
  explicit HashLaunch(device::Device &device) : device_(device), memory_(device) {}

  // The most values of leaves in a workspace.
  static constexpr uint64_t kMostValues = 1 << 20;
  // The longest message of BLAKE3 that is plain.
  static constexpr uint64_t kMostAlone = BLAKE3_MOST_ALONE;

  LaunchMemory &memory() { return memory_; }
  uint64_t launches() const { return launches_; }

  // Sends the key of BLAKE3; other hashes have none.
  Status begin(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec);
  // Zeroes on the device, after all launches, what a key has made secret. To be called however the
  // job went.
  Status end(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec);

  // Hashes pieces of plain messages.
  Status hash(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec,
              const HashInputs &inputs);
  // Whether a message of so many bytes is one thread's. The others are hashed as trees.
  static bool is_plain(const HashSpec &spec, uint64_t bytes, size_t messages);
  // Whether that takes several launches, between which states are kept.
  static bool needs_states(const HashSpec &spec, uint64_t longest);
  // The values of leaves, in workspace.values.
  Status hash_leaves(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec,
                     const HashLeaves &leaves);
  // Of a tree with so many leaves: room for all that is made of their values.
  Status make_levels(HashWorkspace &workspace, uint64_t leaves);
  // Makes one value of each HASH_SPAN of workspace.values; the first one is number `to` of the
  // lowest level of workspace.levels.
  Status join_values(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec,
                     uint32_t count, uint64_t to);
  // Of a tree whose values are all joined.
  Status make_root(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec,
                   uint64_t leaves, const device::Buffer *out, uint64_t to);

 private:
  uint32_t threads_of_block() const;
  bool is_deep(const HashInputs &inputs) const;
  Status launch(device::Stream &stream, const char *kernel, uint64_t thread_blocks,
                uint32_t shared_bytes, std::span<const device::Argument> arguments);
  Status launch_threads(device::Stream &stream, const char *kernel, uint64_t threads,
                        std::span<const device::Argument> arguments);
  Status join(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec,
              const device::Buffer &values, uint64_t from, uint32_t count, uint64_t to);

  device::Device &device_;
  LaunchMemory memory_;
  uint64_t launches_ = 0;
};

}  // namespace lanecrypt::runtime
