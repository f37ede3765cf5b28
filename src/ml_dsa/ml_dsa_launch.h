// One launch of ML-DSA on a device: its memory, its kernels, and the wiping after it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "batch/item_results.h"
#include "batch/launch_memory.h"
#include "device/device.h"
#include "ml_dsa/ml_dsa_request.h"
#include "verify/random_sampler.h"

namespace lanecrypt::runtime {

// `MlDsaWorkspace` is the memory of one launch. It grows as needed and is reused.
struct MlDsaWorkspace {
  // pinned: what is uploaded, and what is downloaded
  std::unique_ptr<device::Buffer> staging, results;
  std::unique_ptr<device::Buffer> pieces, keys, seeds, expanded, signatures, verdicts;
};

// `MlDsaShape` is what the kernels of a set expect.
struct MlDsaShape {
  std::string kernels;  // the beginning of their names
  // Bytes of a key, of a signature and of an expanded key, each in an array on the device, and of a
  // thread block's shared memory.
  uint32_t key_stride = 0, signature_stride = 0, expanded_bytes = 0, shared_bytes = 0;
};

// `MlDsaWork` is what a launch runs, and the offsets of its data in the workspace.
struct MlDsaWork {
  // All items are of the set `set`.
  MlDsaWork(lc_ml_dsa_operation of, const MlDsaSizes &set, std::vector<MlDsaItem> all);

  const lc_ml_dsa_operation operation;
  const MlDsaSizes &sizes;
  const MlDsaShape shape;
  std::vector<MlDsaItem> items;
  uint32_t key_count = 0;
  uint64_t staged_bytes = 0, result_bytes = 0;  // bytes of both that are not wiped yet
  uint64_t verdicts_at = 0;                     // in results
  uint32_t launch_id = 0;                       // the verdict that means "right"
};

// `MlDsaLaunch` launches batches. Only the device's thread may use it.
class MlDsaLaunch {
 public:
  explicit MlDsaLaunch(device::Device &device) : device_(device), memory_(device) {}

  // Starts all steps in the stream, without waiting. `sent` is reached when the device has received
  // all uploads. When the stream has completed the steps, the results are in workspace.results. On
  // the device it zeroes the keys, all that was derived from them and, once they are copied, the
  // results.
  Status start(device::Stream &stream, device::Event &sent, MlDsaWorkspace &workspace,
               MlDsaWork &work);
  // Marks as wrong each item that has no result of this launch: a signature that the launch found
  // right, a key, or a verdict of a signature to verify.
  static void read_checks(const MlDsaWorkspace &workspace, const MlDsaWork &work,
                          ItemResults &results);
  // Returns whether the CPU finds result `n` right. It verifies a new signature, makes a key again,
  // or verifies a signature again. An error is the CPU's.
  static Result<bool> is_right(const MlDsaWorkspace &workspace, const MlDsaWork &work, size_t n);
  // Copies the results of the items that are right to the caller, and wipes new keys in the
  // workspace.
  static void take_results(MlDsaWorkspace &workspace, MlDsaWork &work, const ItemResults &results);
  // wipe_sent() wipes the uploaded data in host memory, wipe_host() all that is left of the work
  // there. Each wipes at most once.
  static void wipe_sent(MlDsaWorkspace &workspace, MlDsaWork &work);
  static void wipe_host(MlDsaWorkspace &workspace, MlDsaWork &work);
  // Zeroes all of the workspace's memory on the device, in case a launch ended before it did so.
  // Does not wait for completion.
  static void wipe_device(device::Stream &stream, MlDsaWorkspace &workspace);

  LaunchMemory &memory() { return memory_; }
  uint64_t launches() const { return launches_; }

 private:
  struct Keys;
  static uint32_t verdict(const MlDsaWorkspace &workspace, const MlDsaWork &work, size_t n);
  Status make_workspace(MlDsaWorkspace &workspace, MlDsaWork &work);
  Status send(device::Stream &stream, MlDsaWorkspace &workspace, const Keys &keys, MlDsaWork &work);
  Status expand(device::Stream &stream, MlDsaWorkspace &workspace, const MlDsaWork &work,
                uint32_t parts);
  Status sign(device::Stream &stream, MlDsaWorkspace &workspace, const MlDsaWork &work);
  Status verify(device::Stream &stream, MlDsaWorkspace &workspace, const MlDsaWork &work);
  Status generate(device::Stream &stream, MlDsaWorkspace &workspace, const MlDsaWork &work);
  Status wipe_keys(device::Stream &stream, MlDsaWorkspace &workspace, const MlDsaWork &work);
  Status launch(device::Stream &stream, const MlDsaWork &work, const char *name,
                uint32_t thread_blocks, std::span<const device::Argument> arguments);
  uint32_t next_launch_id();

  device::Device &device_;
  LaunchMemory memory_;
  uint64_t launches_ = 0;
  uint32_t launch_id_ =
      uint32_t(verify::RandomSampler().uniform_below(uint64_t{1} << 32)) | 1;  // of the last launch
};

}  // namespace lanecrypt::runtime
