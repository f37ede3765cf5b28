// SPDX-License-Identifier: Apache-2.0
#include "cuda_driver.h"

#include <dlfcn.h>

namespace lanecrypt::python::cuda {
namespace {

// Declarations of CUDA's driver API. Its header may be missing on a build machine.
using PointerGetAttribute = int (*)(void *value, int attribute, unsigned long long pointer);
using StreamIsCapturing = int (*)(void *stream, int *status);
constexpr int kSuccess = 0, kErrorStreamCaptureImplicit = 906;
constexpr int kDeviceOrdinal = 9;  // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
constexpr int kCaptureNone = 0;    // CU_STREAM_CAPTURE_STATUS_NONE

// Returns a function of the driver, or nullptr if the driver is not loaded yet or does not have it.
// A loaded driver is never unloaded.
template <typename Function>
Function find(const char *name) {
  void *const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return driver == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(driver, name));
}

}  // namespace

std::optional<int> ordinal_of(const void *address) {
  static PointerGetAttribute get = nullptr;
  if (get == nullptr) get = find<PointerGetAttribute>("cuPointerGetAttribute");
  int ordinal = 0;
  if (get == nullptr ||
      get(&ordinal, kDeviceOrdinal, reinterpret_cast<uintptr_t>(address)) != kSuccess)
    return std::nullopt;
  return ordinal;
}

std::optional<bool> is_captured(uintptr_t stream) {
  static StreamIsCapturing ask = nullptr;
  if (ask == nullptr) ask = find<StreamIsCapturing>("cuStreamIsCapturing");
  if (ask == nullptr) return std::nullopt;
  int status = kCaptureNone;
  const int result = ask(reinterpret_cast<void *>(stream), &status);
  if (result == kErrorStreamCaptureImplicit) return true;
  if (result != kSuccess) return std::nullopt;
  return status != kCaptureNone;
}

}  // namespace lanecrypt::python::cuda
