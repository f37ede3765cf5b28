// Batches of SLH-DSA on a device: memory, kernels, wiping.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "batch/launch_memory.h"
#include "device/device.h"
#include "job/round_up.h"
#include "job/slh_set.h"
#include "kernels/slh/slh_layout.h"
#include "thread/workers.h"
#include "verify/random_sampler.h"

namespace lanecrypt::runtime {

// The memory of one batch. It grows as needed, and is used again.
struct SlhWorkspace {
  std::unique_ptr<device::Buffer> staging, results;  // pinned
  // told: the shape and the items. out: the signatures, the roots and the verdicts.
  std::unique_ptr<device::Buffer> told, tops, kept, leaves, fors_nodes, fors_roots, fors_keys, out;
  std::unique_ptr<device::Buffer> nodes;  // of tall trees, above the leaves
  // Of the batch that was started last:
  uint32_t count = 0, launch_id = 0;
  uint64_t roots_at = 0, verdicts_at = 0;     // in out and in results, in bytes
  uint64_t told_bytes = 0, result_bytes = 0;  // of staging and results, what is not wiped yet
};

inline uint32_t slh_fors_low(const SlhSet &set) { return SLH_FORS_LOW(set.fors_height); }
// Groups that grow so many trees of a height.
inline uint64_t slh_spans(uint64_t trees, uint32_t height) {
  return divide_up(trees, SLH_SPAN >> height);
}
// For the device's thread only. What start_...() begins is over when the stream has done it;
// then the others read it. One batch at a time for a workspace. The items and the signatures to
// verify are read before start_...() returns.
class SlhLaunch {
 public:
  // copiers: threads that share what the host copies.
  SlhLaunch(device::Device &device, Workers &copiers)
      : device_(device), copiers_(copiers), memory_(device) {}

  // Writes the item of operation `number`. Any thread.
  using PutItem = std::function<void(uint32_t number, SlhItem &item)>;
  using SignatureOf = std::function<const uint8_t *(uint32_t number)>;

  // Zeroes on the device, afterwards, the keys and what was made of them. tree: of one signature of
  // a draft's set, the kept nodes of its key's tree, which then need not grow; or empty.
  Status start_sign(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set,
                    uint32_t count, const PutItem &put_item, std::span<const uint32_t> tree);
  // Whether this very launch found the signature right.
  static bool is_right(const SlhWorkspace &workspace, const SlhSet &set, uint32_t number);
  // The signature, whose first n bytes, R, are not in it.
  static const uint8_t *signature(const SlhWorkspace &workspace, const SlhSet &set,
                                  uint32_t number);
  // The roots of its layers, the lowest first, n bytes each.
  static void take_roots(const SlhWorkspace &workspace, const SlhSet &set, uint32_t number,
                         std::span<uint8_t> roots);

  Status start_keys(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set,
                    uint32_t count, const PutItem &put_item);
  // PK.root of a new key.
  static void take_root(const SlhWorkspace &workspace, const SlhSet &set, uint32_t number,
                        uint8_t *root);
  // Of a new key of a draft's set the nodes of SlhSet::kKeptHeight, in the kernels' form.
  static const uint32_t *kept_nodes(const SlhWorkspace &workspace, const SlhSet &set,
                                    uint32_t number);

  Status start_verify(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set,
                      uint32_t count, const PutItem &put_item, const SignatureOf &signature_of);
  // LC_ERROR_DEVICE if it is no verdict of this launch.
  static Result<bool> verdict(const SlhWorkspace &workspace, uint32_t number);

  // Wipes what was sent and what came back, on the host. At most once each.
  static void wipe_host(SlhWorkspace &workspace);
  // Zeroes all of the workspace's memory on the device, in case a launch ended before it did so.
  // Does not wait for that.
  static void wipe_device(device::Stream &stream, SlhWorkspace &workspace);

  // So many operations keep a device busy, and take it some milliseconds.
  static uint32_t best_batch(const SlhSet &set, lc_slh_dsa_operation operation);
  LaunchMemory &memory() { return memory_; }
  // Runs work(0) to work(count - 1), each of which copies about `bytes`, on this thread and the
  // copiers.
  void share(uint32_t count, uint64_t bytes, const std::function<void(uint32_t)> &work);
  uint64_t launches() const { return launches_; }

 private:
  Status begin(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set, uint32_t count,
               const PutItem &put_item, bool is_key, std::span<const uint32_t> tree);
  Status make_xmss_trees(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set,
                         bool is_key);
  // The same for the sets of the draft (slh_xmss.cpp).
  Status make_xmss_parts(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set,
                         bool is_key, bool has_tree);
  Status launch(device::Stream &stream, const SlhSet &set, const char *name, uint64_t thread_blocks,
                bool has_shared, std::span<const device::Argument> arguments);
  uint64_t thread_blocks_for(uint64_t threads) const;

  device::Device &device_;
  Workers &copiers_;
  LaunchMemory memory_;
  uint64_t launches_ = 0;
  verify::RandomSampler sampler_;
};

}  // namespace lanecrypt::runtime
