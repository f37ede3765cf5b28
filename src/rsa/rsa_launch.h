// One launch of RSA on a device: its arithmetic, the threads of an operation, its memory, and the
// wiping after it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "batch/launch_memory.h"
#include "cpu/rsa/rsa_image.h"
#include "device/device.h"
#include "rsa/rsa_engine.h"
#include "rsa/rsa_kind.h"
#include "verify/random_sampler.h"

namespace lanecrypt::runtime {

// How the kernels multiply. Both give correct results on every device that supports them.
enum class RsaArithmetic { kFp64, kU32 };

// Returns the best arithmetic for a device, or in test builds the one that the environment variable
// LANECRYPT_RSA_FORM (fp64, u32) names. Returns an error if the device does not support that.
Result<RsaArithmetic> choose_rsa_arithmetic(const device::Properties &properties);

// `RsaSubgroups` is a kernel and its number of threads for one operation.
struct RsaSubgroups {
  std::string kernels;   // the beginning of their names: "rsa_fp64_20_"
  uint32_t threads = 1;  // threads of one operation
  uint32_t limbs = 0;    // limbs of one thread
  bool thread_per_number = false;
  bool thread_per_limb = false;  // a whole warp for each (kernels/rsa/rsa_thread_per_limb.inc)
};

// What a variant computes: complete operations on numbers as long as the modulus, powers modulo the
// primes, or primality tests.
enum class RsaPart { kWhole, kPower, kPrime };

// `RsaWorkspace` is the memory of one launch. It grows as needed and is reused.
struct RsaWorkspace {
  // pinned: what is uploaded, and what is downloaded
  std::unique_ptr<device::Buffer> staging, results;
  std::unique_ptr<device::Buffer> shape, power_shape, pieces, keys, in;
  std::unique_ptr<device::Buffer> blinded, halves, table, out;
};

// `RsaWork` is what a launch runs, and the offsets of its data in the workspace, in bytes.
struct RsaWork {
  lc_rsa_operation operation = LC_RSA_PRIVATE;
  std::span<const RsaItem> items;
  uint32_t stride_bytes = 0;
  uint64_t pieces_at = 0, keys_at = 0, inputs_at = 0;  // in staging
  uint64_t verdicts_at = 0;                            // in results and in out
  uint64_t staged_bytes = 0, result_bytes = 0;         // bytes of both that are not wiped yet
  uint32_t launch_id = 0;                              // the verdict that means "right"
  std::string variant;                                 // the variant that runs it
};

// `RsaStreams` are the streams of a launch. Powers take long. If the kernels before and after them
// were in the same stream, they would wait for the powers of all batches in flight.
struct RsaStreams {
  device::Stream &ends;    // copies, and kernels on numbers as long as the modulus
  device::Stream &powers;  // may be the same
  device::Event &turn;     // with which they wait for each other
  device::Event &sent;     // reached when the device has received all uploads
};

// `RsaLaunch` launches batches. Only the device's thread may use it.
class RsaLaunch {
 public:
  RsaLaunch(device::Device &device, RsaArithmetic arithmetic);

  // Starts all steps of a launch, without waiting. When `streams.ends` has completed them, the
  // results are in `workspace.results`, and nothing of the launch runs in the other stream. On the
  // device it zeroes the keys, all that was derived from them, the inputs and, once they are
  // copied, the results. If an item's key or random generator fails, the failure is noted in
  // `results`. If that leaves no item, nothing is started. An error is the device's, or
  // LC_ERROR_MEMORY.
  Status start(const RsaStreams &streams, RsaWorkspace &workspace, RsaWork &work,
               ItemResults &results);
  // Marks as wrong each item that has no verdict of this launch: its result was not found right or,
  // for a public operation, not made.
  static void read_checks(const RsaWorkspace &workspace, const RsaWork &work, ItemResults &results);
  // Returns whether the CPU computes the input of item `n` from its output or, for a public
  // operation, computes the same output. An error is the CPU's.
  static Result<bool> computes_back(const RsaWorkspace &workspace, const RsaWork &work, size_t n);
  // Copies the outputs of the items that are right, and wipes the results in host memory.
  static void take_results(RsaWorkspace &workspace, RsaWork &work, const ItemResults &results);
  // wipe_sent() wipes the uploaded data in host memory, wipe_host() all that is left of the work
  // there. Each wipes at most once.
  static void wipe_sent(RsaWorkspace &workspace, RsaWork &work);
  static void wipe_host(RsaWorkspace &workspace, RsaWork &work);
  // Zeroes all of the workspace's memory on the device, in case a launch ended before it did so.
  // Does not wait for completion.
  static void wipe_device(device::Stream &stream, RsaWorkspace &workspace);

  // most_at_once() returns how many operations of a class run concurrently in the variant with the
  // highest throughput, best_batch() how many give each multiprocessor one thread block. Both
  // return SIZE_MAX if that is not known.
  uint64_t most_at_once(const RsaClass &size) const;
  uint64_t best_batch(const RsaClass &size) const;

  // Returns every variant of `part`, the fewest threads first.
  std::vector<RsaSubgroups> variants(uint32_t limbs, RsaPart part) const;
  // Makes powers and primality tests run as variant `number` of variants() instead of the best one,
  // or with SIZE_MAX as the best one again. For the self-test.
  void force_variant(size_t number) { forced_variant_ = number; }
  uint64_t launches() const { return launches_; }
  RsaArithmetic arithmetic() const { return arithmetic_; }

  // The steps of a launch, for other kernels in the same variants (primality tests).
  uint32_t limbs_of(const RsaClass &size) const {
    return arithmetic_ == RsaArithmetic::kFp64 ? size.fp64_limbs : size.u32_limbs;
  }
  uint32_t limb_bytes() const { return arithmetic_ == RsaArithmetic::kFp64 ? 8 : 4; }
  RsaSubgroups choose(uint32_t limbs, uint64_t numbers, RsaPart part) const;
  LaunchMemory &memory() { return memory_; }
  Status launch(device::Stream &stream, const RsaSubgroups &subgroups, const char *name,
                uint32_t thread_blocks, std::span<const device::Argument> arguments);
  uint32_t thread_blocks_of(const RsaSubgroups &subgroups, const char *name, uint64_t numbers);
  uint32_t threads_of_block() const;

 private:
  // The steps of start(), in order.
  struct Plan;
  static uint32_t number_keys(const RsaWork &work, Plan &plan);
  void plan_shapes(const RsaClass &size, uint32_t most_of_one_key, Plan &plan) const;
  void plan_memory(RsaWork &work, Plan &plan);
  Status stage(const RsaWork &work, const Plan &plan, RsaWorkspace &workspace,
               ItemResults &results);
  Status make_workspace(const RsaWork &work, const Plan &plan, RsaWorkspace &workspace);
  uint32_t next_launch_id();
  Status upload(device::Stream &stream, const RsaWork &work, const Plan &plan,
                RsaWorkspace &workspace);
  Status run_private(const RsaStreams &streams, const RsaWork &work, const Plan &plan,
                     RsaWorkspace &workspace);
  Status run_public(device::Stream &stream, const RsaWork &work, const Plan &plan,
                    RsaWorkspace &workspace);

  uint32_t most_threads_of_subgroup() const;
  uint32_t shared_bytes(const RsaSubgroups &subgroups) const;
  RsaSubgroups best_variant(const RsaClass &size) const;
  uint64_t operations_of(const RsaSubgroups &variant, uint64_t thread_blocks) const;

  device::Device &device_;
  const RsaArithmetic arithmetic_;
  size_t forced_variant_ = SIZE_MAX;
  uint64_t launches_ = 0;
  uint32_t launch_id_ =
      uint32_t(verify::RandomSampler().uniform_below(uint64_t{1} << 32)) | 1;  // of the last launch
  LaunchMemory memory_;
};

}  // namespace lanecrypt::runtime
