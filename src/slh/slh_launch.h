// Launches batches of SLH-DSA on a device: memory, kernels, wiping.
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

// `SlhWorkspace` is the memory of one batch. It grows as needed and is reused.
struct SlhWorkspace {
  std::unique_ptr<device::Buffer> staging, results;  // pinned
  // `told` holds the shape and the items. `out` holds the signatures, the roots and the verdicts.
  std::unique_ptr<device::Buffer> told, tops, kept, leaves, fors_nodes, fors_roots, fors_keys, out;
  std::unique_ptr<device::Buffer> nodes;  // the nodes of tall trees above the leaves
  // The batch that was started last:
  uint32_t count = 0, launch_id = 0;
  uint64_t roots_at = 0, verdicts_at = 0;     // offsets in out and in results, in bytes
  uint64_t told_bytes = 0, result_bytes = 0;  // bytes of staging and results that are not wiped yet
};

inline uint32_t slh_fors_low(const SlhSet &set) { return SLH_FORS_LOW(set.fors_height); }
// Returns how many thread blocks compute `trees` trees of height `height`.
inline uint64_t slh_spans(uint64_t trees, uint32_t height) {
  return divide_up(trees, SLH_SPAN >> height);
}
// `SlhLaunch` launches batches. Only the device's thread may use it. The work of start_...() is
// complete when the stream has completed it; the accessors then read the results. A workspace has
// one batch at a time. The items and the signatures to verify are read before start_...() returns.
class SlhLaunch {
 public:
  // `copiers` are threads that share the copies in host memory.
  SlhLaunch(device::Device &device, Workers &copiers)
      : device_(device), copiers_(copiers), memory_(device) {}

  // Writes the item of operation `number`. Called on any thread.
  using PutItem = std::function<void(uint32_t number, SlhItem &item)>;
  using SignatureOf = std::function<const uint8_t *(uint32_t number)>;

  // Starts signatures. Afterwards it zeroes the keys and all that was derived from them on the
  // device. `tree` is empty or, for one signature of a draft's set, the kept nodes of its key's
  // tree, which then need not be computed.
  Status start_sign(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set,
                    uint32_t count, const PutItem &put_item, std::span<const uint32_t> tree);
  // Returns whether this launch found the signature right.
  static bool is_right(const SlhWorkspace &workspace, const SlhSet &set, uint32_t number);
  // Returns the signature. Its first n bytes, R, are not set.
  static const uint8_t *signature(const SlhWorkspace &workspace, const SlhSet &set,
                                  uint32_t number);
  // Copies the roots of the layers, the lowest first, n bytes each.
  static void take_roots(const SlhWorkspace &workspace, const SlhSet &set, uint32_t number,
                         std::span<uint8_t> roots);

  Status start_keys(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set,
                    uint32_t count, const PutItem &put_item);
  // Copies PK.root of a new key.
  static void take_root(const SlhWorkspace &workspace, const SlhSet &set, uint32_t number,
                        uint8_t *root);
  // Returns the nodes at SlhSet::kKeptHeight of a new key of a draft's set, in the kernels' byte
  // order.
  static const uint32_t *kept_nodes(const SlhWorkspace &workspace, const SlhSet &set,
                                    uint32_t number);

  Status start_verify(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set,
                      uint32_t count, const PutItem &put_item, const SignatureOf &signature_of);
  // Returns whether the signature is valid, or LC_ERROR_DEVICE if there is no verdict of this
  // launch.
  static Result<bool> verdict(const SlhWorkspace &workspace, uint32_t number);

  // Wipes the uploaded and the downloaded data in host memory, at most once each.
  static void wipe_host(SlhWorkspace &workspace);
  // Zeroes all of the workspace's memory on the device, in case a launch ended before it did so.
  // Does not wait for completion.
  static void wipe_device(device::Stream &stream, SlhWorkspace &workspace);

  // Returns how many operations keep a device busy for some milliseconds.
  static uint32_t best_batch(const SlhSet &set, lc_slh_dsa_operation operation);
  LaunchMemory &memory() { return memory_; }
  // Runs work(0) to work(count - 1), each of which copies about `bytes` bytes, on this thread and
  // the copy threads.
  void share(uint32_t count, uint64_t bytes, const std::function<void(uint32_t)> &work);
  uint64_t launches() const { return launches_; }

 private:
  Status begin(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set, uint32_t count,
               const PutItem &put_item, bool is_key, std::span<const uint32_t> tree);
  Status make_xmss_trees(device::Stream &stream, SlhWorkspace &workspace, const SlhSet &set,
                         bool is_key);
  // The same for the sets of the draft SP 800-230 (slh_xmss.cpp).
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
