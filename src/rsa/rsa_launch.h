// One launch of RSA on a device: its arithmetic, the threads of an operation, its memory, and
// the wiping afterwards.
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

// How the kernels multiply. Each is right on every device that has it.
enum class RsaArithmetic { kFp64, kU32 };

// The best arithmetic for a device, or in builds for tests the one that the environment
// variable LANECRYPT_RSA_FORM (fp64, u32) names. An error if the device does not have that.
Result<RsaArithmetic> choose_rsa_arithmetic(const device::Properties &properties);

// A kernel and its number of threads for one operation.
struct RsaSubgroups {
  std::string kernels;   // the beginning of their names: "rsa_fp64_20_"
  uint32_t threads = 1;  // threads of one operation
  uint32_t limbs = 0;    // limbs of one thread
  bool thread_per_number = false;
  bool thread_per_limb = false;  // a whole warp for each (kernels/rsa/rsa_thread_per_limb.inc)
};

// What a variant computes: with numbers as long as the modulus, powers modulo its primes, or
// tests of primes.
enum class RsaPart { kWhole, kPower, kPrime };

// The memory of one launch. It grows as needed, and is used again.
struct RsaWorkspace {
  std::unique_ptr<device::Buffer> staging, results;  // pinned: what is uploaded, what comes back
  std::unique_ptr<device::Buffer> shape, power_shape, pieces, keys, in;
  std::unique_ptr<device::Buffer> blinded, halves, table, out;
};

// What is to run, and where in the workspace its data are.
struct RsaWork {
  lc_rsa_operation operation = LC_RSA_PRIVATE;
  std::span<const RsaItem> items;
  uint32_t stride_bytes = 0;
  uint64_t pieces_at = 0, keys_at = 0, inputs_at = 0;  // in staging
  uint64_t verdicts_at = 0;                            // in results, and there
  uint64_t staged_bytes = 0, result_bytes = 0;         // how much of both is not wiped yet
  uint32_t launch_id = 0;                              // the verdict that means "right"
  std::string variant;                                 // the variant that runs it
};

// The streams of a launch. Powers take long. If the work before and after them were in such a
// stream too, it would wait for the powers of all batches that are under way.
struct RsaStreams {
  device::Stream &ends;    // copies, and kernels on whole numbers
  device::Stream &powers;  // may be the same
  device::Event &turn;     // by which they wait for each other
  device::Event &sent;     // reached when the device has had what it was sent
};

// For the device's thread only.
class RsaLaunch {
 public:
  RsaLaunch(device::Device &device, RsaArithmetic arithmetic);

  // Starts all of it. When streams.ends has done it, the results are in workspace.results, and
  // nothing of it runs in the other stream. On the device it zeroes the keys, all that was
  // made with them, the inputs and, once they are copied, the results. An item whose key or random
  // generator fails is noted in `results`; if that leaves none, nothing is started. An error is the
  // device's, or LC_ERROR_MEMORY.
  Status start(const RsaStreams &streams, RsaWorkspace &workspace, RsaWork &work,
               ItemResults &results);
  // Marks as wrong what this very launch did not find right (of a public operation: did not make).
  static void read_checks(const RsaWorkspace &workspace, const RsaWork &work, ItemResults &results);
  // Whether the CPU computes from the output of item n its input or, for a public operation, the
  // same output. An error is the CPU's.
  static Result<bool> computes_back(const RsaWorkspace &workspace, const RsaWork &work, size_t n);
  // Copies the outputs of the items that are right, and wipes all in the workspace's results.
  static void take_results(RsaWorkspace &workspace, RsaWork &work, const ItemResults &results);
  // Wipes what was sent from the workspace's host memory, and all that is left of the work there.
  // At most once each.
  static void wipe_sent(RsaWorkspace &workspace, RsaWork &work);
  static void wipe_host(RsaWorkspace &workspace, RsaWork &work);
  // Zeroes all of the workspace's memory on the device, in case a launch ended before it did so.
  // Does not wait for that.
  static void wipe_device(device::Stream &stream, RsaWorkspace &workspace);

  // How many operations of a class run at once in the variant of most throughput, and how many
  // give each multiprocessor one thread block. SIZE_MAX if that is not known.
  uint64_t most_at_once(const RsaClass &size) const;
  uint64_t best_batch(const RsaClass &size) const;

  // Every variant of a part, from the fewest threads on. For the self-test.
  std::vector<RsaSubgroups> variants(uint32_t limbs, RsaPart part) const;
  // From now on powers and tests run as variant `number` of variants() instead of the best one.
  // SIZE_MAX: in the best one again.
  void force_variant(size_t number) { forced_variant_ = number; }
  uint64_t launches() const { return launches_; }
  RsaArithmetic arithmetic() const { return arithmetic_; }

  // The parts of which a launch is made, for other kernels in the same variants.
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
  // The steps of start(), in their order.
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
      uint32_t(verify::RandomSampler().uniform_below(uint64_t{1} << 32)) | 1;  // of the last
  LaunchMemory memory_;
};

}  // namespace lanecrypt::runtime
