// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/info.h"

#include <string>

namespace lanecrypt::device::cuda {
namespace {

constexpr int kOldestMajor = 7, kOldestMinor = 5;

}  // namespace

Properties describe(const Driver &driver, CUdevice device, int number) {
  const auto attribute = [&](int which) {
    int value = 0;
    (void)driver.device_attribute(&value, which, device);
    return value;
  };
  Properties properties;
  char name[128] = "unknown";
  (void)driver.device_name(name, sizeof name, device);
  size_t memory = 0;
  (void)driver.device_memory(&memory, device);
  int version = 0;
  (void)driver.driver_version(&version);
  const int major = attribute(kComputeCapabilityMajor), minor = attribute(kComputeCapabilityMinor);
  properties.id = "cuda:" + std::to_string(number);
  properties.api = properties.platform = "cuda";
  properties.name = name;
  properties.driver =
      "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  properties.memory_bytes = memory;
  properties.compute_units = static_cast<uint32_t>(attribute(kMultiprocessorCount));
  properties.shared_bytes = static_cast<uint32_t>(attribute(kMaxSharedMemoryPerBlockOptin));
  properties.max_thread_block_size = static_cast<uint32_t>(attribute(kMaxThreadsPerBlock));
  properties.warp_threads = 32;
  properties.single_thread_subgroups = false;
  properties.banked_shared = true;
  properties.bit_matrices = major >= 8;
  properties.warp_shuffle = true;
  properties.is_gpu = true;
  properties.pairs_launches = major >= 9;
  properties.flat_addresses = properties.default_streams = true;
  // With unified addressing, kernels reach all memory of cuMemHostAlloc() at the host's address,
  // whatever its flags.
  properties.reaches_pinned = attribute(kUnifiedAddressing) != 0;
  // Must agree with FAST_FP64 in warps.h.
  properties.fast_fp64 = minor == 0 && major >= 8 && major <= 10;
  properties.pci_address = static_cast<uint64_t>(attribute(kPciDomainId)) << 16 |
                           static_cast<uint64_t>(attribute(kPciBusId)) << 8 |
                           static_cast<uint64_t>(attribute(kPciDeviceId)) << 3;
  if (major < kOldestMajor || (major == kOldestMajor && minor < kOldestMinor))
    properties.unusable = "compute capability " + std::to_string(major) + "." +
                          std::to_string(minor) + " is too old: 7.5 is needed";
  return properties;
}

}  // namespace lanecrypt::device::cuda
