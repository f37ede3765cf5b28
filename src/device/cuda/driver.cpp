// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/driver.h"

#include <dlfcn.h>

#include "device/device.h"
#include "process/first_user.h"

namespace lanecrypt::device::cuda {
namespace {

// The kernels are compiled by CUDA 13.0; older drivers cannot load its code.
constexpr int kOldestDriver = 13000;

struct Loaded {
  Driver driver = {};
  Status status;

  Loaded() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      status = Status(LC_ERROR_NO_DEVICE, "no CUDA driver (libcuda.so.1) is installed");
      return;
    }
#define LANECRYPT_CUDA_LOAD(symbol, name, parameters)                             \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(library, #symbol)); \
  if (driver.name == nullptr && status.ok())                                      \
    status = Status(LC_ERROR_UNSUPPORTED, "the CUDA driver is too old: it has no " #symbol);
    LANECRYPT_CUDA_FUNCTIONS(LANECRYPT_CUDA_LOAD)
#undef LANECRYPT_CUDA_LOAD
    if (!status.ok()) return;
    if (const CUresult result = driver.init(0); result != kSuccess) {
      status = Status(result == kErrorNoDevice ? LC_ERROR_NO_DEVICE : LC_ERROR_UNSUPPORTED,
                      "the CUDA driver does not start: " + error(driver, result, "cuInit").text());
      return;
    }
    int version = 0;
    (void)driver.driver_version(&version);
    if (version < kOldestDriver) {
      const auto text = [](int v) {
        return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
      };
      status = Status(LC_ERROR_UNSUPPORTED, "the CUDA driver is too old: it is for CUDA " +
                                                text(version) + ", and " + text(kOldestDriver) +
                                                " or newer is needed");
    }
  }
};

// A child of fork() cannot use the driver: its threads do not exist there, and what cuInit() made
// belongs to the parent.
constinit process::FirstUser user;

}  // namespace

bool is_of_parent() { return user.is_parent(); }

const Driver *driver(Status *why) {
  if (!user.begin()) {
    *why = Status(LC_ERROR_NO_DEVICE, kUsedByParent);
    return nullptr;
  }
  static const Loaded *const loaded = new Loaded();
  *why = loaded->status;
  return loaded->status.ok() ? &loaded->driver : nullptr;
}

Status error(const Driver &driver, CUresult result, const char *what) {
  const char *name = nullptr, *text = nullptr;
  (void)driver.error_name(result, &name);
  (void)driver.error_string(result, &text);
  return Status(result == kErrorOutOfMemory ? LC_ERROR_MEMORY : LC_ERROR_DEVICE,
                std::string(what) + ": " + (name != nullptr ? name : "unknown error") +
                    (text != nullptr ? std::string(" (") + text + ")" : ""));
}

}  // namespace lanecrypt::device::cuda
