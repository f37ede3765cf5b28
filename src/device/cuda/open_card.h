// An open card, shared by all its users: its primary context and its loaded sets of kernels.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "device/cuda/driver.h"
#include "device/device.h"

namespace lanecrypt::device::cuda {

// A loaded kernel, and the shared memory that it may use.
struct Kernel {
  CUfunction function = nullptr;
  uint32_t shared_bytes = 0;
};

// A set of kernels, loaded once for all its users. Any thread that has the card's context current
// may use and destroy it.
class LoadedSet {
 public:
  LoadedSet(const Driver &driver, CUmodule module);
  ~LoadedSet() { (void)driver_.module_unload(module_); }
  LoadedSet(const LoadedSet &) = delete;

  CUdeviceptr key_slot() const { return key_slot_; }
  size_t key_slot_bytes() const { return key_slot_bytes_; }
  Result<Kernel> find(const std::string &name, uint32_t shared_bytes);

 private:
  const Driver &driver_;
  const CUmodule module_;
  CUdeviceptr key_slot_ = 0;
  size_t key_slot_bytes_ = 0;
  std::mutex mutex_;
  std::map<std::string, Kernel> kernels_;
};

// A card in use: its primary context, and the sets that were requested so far.
class OpenCard {
 public:
  OpenCard(const Driver &driver, CUdevice device, CUcontext context)
      : driver_(driver), device_(device), context_(context) {}
  ~OpenCard() { (void)driver_.primary_release(device_); }
  OpenCard(const OpenCard &) = delete;

  static Result<std::shared_ptr<OpenCard>> open(const Driver &driver, CUdevice device);

  CUcontext context() const { return context_; }
  // Returns the loaded set, on a thread that has the context current. If another thread is loading
  // the set, waits for it.
  Result<std::shared_ptr<LoadedSet>> load(KernelSet set);

 private:
  struct CacheEntry {
    std::mutex mutex;
    std::weak_ptr<LoadedSet> loaded;
  };
  const Driver &driver_;
  const CUdevice device_;
  const CUcontext context_;
  std::array<CacheEntry, std::size(kKernelSets)> sets_;
};

}  // namespace lanecrypt::device::cuda
