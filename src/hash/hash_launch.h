// Launches the hash kernels.
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

// `HashWorkspace` is the memory of one job on a device. It grows as needed and is reused.
struct HashWorkspace {
  std::unique_ptr<device::Buffer> small;                // pinned: BLAKE3's key
  std::unique_ptr<device::Buffer> table_host, results;  // pinned
  std::unique_ptr<device::Buffer> key, table, states, digests, values, levels;
};

// `HashInputs` is the messages of one launch.
struct HashInputs {
  const device::Buffer *pieces;  // HashPiece
  uint32_t count;
  uint64_t longest;          // bytes of the longest piece
  const device::Buffer *in;  // the base of the inputs; if nullptr, the pieces have addresses
  const device::Buffer *out;
};

// `HashLeaves` is consecutive leaves of one message's tree.
struct HashLeaves {
  const device::Buffer *in;
  uint64_t at, bytes;  // offset of the first leaf, and the bytes of the message from there
  uint64_t first;      // the number of the first leaf
  uint32_t count;
  uint64_t to;  // the index of its value in workspace.values
};

// `HashLaunch` launches the hash kernels. Only the device's thread may use it.
class HashLaunch {
 public:
  explicit HashLaunch(device::Device &device) : device_(device), memory_(device) {}

  // The most leaf values in a workspace.
  static constexpr uint64_t kMostValues = 1 << 20;
  // The longest BLAKE3 message that is plain, in bytes.
  static constexpr uint64_t kMostAlone = BLAKE3_MOST_ALONE;

  LaunchMemory &memory() { return memory_; }
  uint64_t launches() const { return launches_; }

  // Uploads the key of BLAKE3. Does nothing for other hashes.
  Status begin(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec);
  // Zeroes device memory that a secret key makes secret, after all launches. To be called however
  // the job ended.
  Status end(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec);

  // Enqueues the hashing of pieces of plain messages.
  Status hash(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec,
              const HashInputs &inputs);
  // Returns whether one thread hashes a message of `bytes` bytes. Other messages are hashed as
  // trees.
  static bool is_plain(const HashSpec &spec, uint64_t bytes, size_t messages);
  // Returns whether hashing takes several launches, between which states are kept.
  static bool needs_states(const HashSpec &spec, uint64_t longest);
  // Enqueues the computation of the values of leaves, in workspace.values.
  Status hash_leaves(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec,
                     const HashLeaves &leaves);
  // Makes memory for all levels of a tree with `leaves` leaves above the leaf values.
  Status make_levels(HashWorkspace &workspace, uint64_t leaves);
  // Reduces each HASH_SPAN values of workspace.values to one. The first becomes number `to` of the
  // lowest level of workspace.levels.
  Status join_values(device::Stream &stream, HashWorkspace &workspace, const HashSpec &spec,
                     uint32_t count, uint64_t to);
  // Computes the root of a tree whose leaf values are all joined.
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
