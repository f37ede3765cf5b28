// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/open_card.h"

#include "device/cuda/own.h"
#include "device/open_once.h"

// The kernels of each set, for every architecture (cmake/kernels.cmake).
#define LC_FATBIN(name, ...) extern "C" const unsigned char lanecrypt_##name##_fatbin[];
LC_KERNEL_SETS(LC_FATBIN)
#undef LC_FATBIN

namespace lanecrypt::device::cuda {
namespace {

#define LC_FATBIN(name, ...) lanecrypt_##name##_fatbin,
constexpr const unsigned char *kFatbins[] = {LC_KERNEL_SETS(LC_FATBIN)};
#undef LC_FATBIN

}  // namespace

LoadedSet::LoadedSet(const Driver &driver, CUmodule module) : driver_(driver), module_(module) {
  if (driver.module_global(&key_slot_, &key_slot_bytes_, module, "block_key_slot") != kSuccess)
    key_slot_bytes_ = 0;
}

Result<Kernel> LoadedSet::find(const std::string &name, uint32_t shared_bytes) {
  const std::lock_guard lock(mutex_);
  Kernel &kernel = kernels_[name];
  if (kernel.function == nullptr)
    LC_TRY(check(driver_, driver_.module_function(&kernel.function, module_, name.c_str()),
                 name.c_str()));
  // A kernel needs permission for more than 48 KiB of shared memory. The limit only grows, since
  // other users may need more than this one.
  if (shared_bytes > kernel.shared_bytes) {
    LC_TRY(check(driver_,
                 driver_.function_set(kernel.function, kMaxDynamicSharedSizeBytes,
                                      static_cast<int>(shared_bytes)),
                 name.c_str()));
    kernel.shared_bytes = shared_bytes;
  }
  return kernel;
}

Result<std::shared_ptr<OpenCard>> OpenCard::open(const Driver &driver, CUdevice device) {
  static constinit OpenOnce<CUdevice, OpenCard> all;
  return all.get(device, [&]() -> Result<std::shared_ptr<OpenCard>> {
    CUcontext context = nullptr;
    LC_TRY(check(driver, driver.primary_retain(&context, device), "opening the device"));
    return std::make_shared<OpenCard>(driver, device, context);
  });
}

Result<std::shared_ptr<LoadedSet>> OpenCard::load(KernelSet set) {
  CacheEntry &entry = sets_[static_cast<uint32_t>(set)];
  const std::lock_guard lock(entry.mutex);
  if (std::shared_ptr<LoadedSet> shared = entry.loaded.lock()) return shared;
  CUmodule module = nullptr;
  LC_TRY(check(driver_, driver_.module_load(&module, kFatbins[static_cast<uint32_t>(set)]),
               "loading the kernels"));
  auto loaded = std::make_shared<LoadedSet>(driver_, module);
  // A set with a key slot is not shared: a user that launches kernels with the slot needs its own.
  if (loaded->key_slot_bytes() == 0) entry.loaded = loaded;
  return loaded;
}

}  // namespace lanecrypt::device::cuda
