// SPDX-License-Identifier: Apache-2.0
#include "cuda_driver.h"

#include <dlfcn.h>

namespace lanecrypt::python::cuda {
namespace {

// CUDA's driver API, without its header, which a machine that builds this may lack.
using PointerGetAttribute = int (*)(void *value, int attribute, unsigned long long pointer);
using StreamIsCapturing = int (*)(void *stream, int *status);
constexpr int kSuccess = 0, kErrorStreamCaptureImplicit = 906;
constexpr int kDeviceOrdinal = 9;  // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
constexpr int kCaptureNone = 0;    // CU_STREAM_CAPTURE_STATUS_NONE

// nullptr where the driver is not loaded yet, or has no such function. Once found, the driver
// stays.
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
