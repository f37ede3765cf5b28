// Batches of SLH-DSA on a device: memory, kernels, wiping.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "batch/launch_memory.h"
#include "device/device.h"
#include "slh/slh_message.h"
#include "slh/slh_set.h"

namespace lanecrypt::runtime {

// The memory of one batch. It grows as needed, and is used again.
struct SlhRoom {
  std::unique_ptr<device::Buffer> staging, results;  // pinned
  std::unique_ptr<device::Buffer> shape, items, tops, kept, leaves, fors_nodes, fors_roots;
  std::unique_ptr<device::Buffer> fors_keys, roots, out, verdicts;
  // Of the batch that was started last:
  uint32_t count = 0, nonce = 0;
};

// For the device's thread only. What start_...() begins is over when the stream has done it;
// then finish_...() reads it. One batch at a time for a room.
class SlhLaunch {
 public:
  explicit SlhLaunch(device::Device &device) : device_(device), memory_(device) {}

  // Zeroes on the device, afterwards, the keys and what was made of them.
  Status start_sign(device::Stream &stream, SlhRoom &room, const SlhSet &set,
                    std::span<const SlhItem> items);
  // signatures: signature_bytes() of each item, of which the first n, R, are not written.
  // right[i] is 0 where this launch did not find what it made right; that is not written.
  void finish_sign(SlhRoom &room, const SlhSet &set, std::span<uint8_t> signatures,
                   std::span<uint8_t> right);

  Status start_roots(device::Stream &stream, SlhRoom &room, const SlhSet &set,
                     std::span<const SlhItem> items);
  // roots: PK.root, n bytes of each item.
  void finish_roots(SlhRoom &room, const SlhSet &set, std::span<uint8_t> roots);

  Status start_verify(device::Stream &stream, SlhRoom &room, const SlhSet &set,
                      std::span<const SlhItem> items, std::span<const uint8_t> signatures);
  // LC_ERROR_DEVICE where a verdict is not of this launch.
  Status finish_verify(SlhRoom &room, std::span<uint8_t> valid);

  // So many signatures keep a device busy, and take it some milliseconds.
  static uint32_t best_batch(const SlhSet &set);
  uint64_t launches() const { return launches_; }

 private:
  Status begin(device::Stream &stream, SlhRoom &room, const SlhSet &set,
               std::span<const SlhItem> items, bool is_key);
  Status grow_trees(device::Stream &stream, SlhRoom &room, const SlhSet &set, bool is_key);
  Status launch(device::Stream &stream, const SlhSet &set, const char *name, uint64_t groups,
                bool has_local, std::span<const device::Argument> arguments);
  uint64_t groups_for(uint64_t lanes) const;

  device::Device &device_;
  LaunchMemory memory_;
  uint64_t launches_ = 0;
};

}  // namespace lanecrypt::runtime
