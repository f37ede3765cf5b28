// SPDX-License-Identifier: Apache-2.0
#include "cuda_pointer.h"

#include <dlfcn.h>

#include <cstdint>

namespace lanecrypt::python::cuda {
namespace {

// CUDA's driver API, without its header, which a machine that builds this may lack.
using PointerGetAttribute = int (*)(void *value, int attribute, unsigned long long pointer);
constexpr int kDeviceOrdinal = 9;  // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL

PointerGetAttribute pointer_get_attribute() {
  void *const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return nullptr;
  const auto found = reinterpret_cast<PointerGetAttribute>(dlsym(driver, "cuPointerGetAttribute"));
  // Whoever loaded it keeps it.
  dlclose(driver);
  return found;
}

}  // namespace

std::optional<int> ordinal_of(const void *address) {
  const PointerGetAttribute get = pointer_get_attribute();
  int ordinal = 0;
  if (get == nullptr || get(&ordinal, kDeviceOrdinal, reinterpret_cast<uintptr_t>(address)) != 0)
    return std::nullopt;
  return ordinal;
}

}  // namespace lanecrypt::python::cuda
