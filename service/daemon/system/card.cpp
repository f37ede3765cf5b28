// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/system/card.h"

#include <dlfcn.h>

namespace lanecrypt::service::daemon {
namespace {

// Constants and types of NVML, from its API reference: NVML_SUCCESS, NVML_TEMPERATURE_GPU and
// nvmlMemory_t.
constexpr int kDone = 0;
constexpr int kTemperatureOfGpu = 0;
struct Memory {
  unsigned long long total, free, used;
};

template <class Function>
bool find(void *library, const char *name, Function *function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

bool Cards::load() {
  if (was_loaded_) return library_ != nullptr;
  was_loaded_ = true;
  void *const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  int (*begin)() = nullptr;
  const bool is_whole = find(library, "nvmlInit_v2", &begin) &&
                        find(library, "nvmlShutdown", &shutdown_) &&
                        find(library, "nvmlDeviceGetHandleByPciBusId_v2", &find_) &&
                        find(library, "nvmlDeviceGetTemperature", &temperature_) &&
                        find(library, "nvmlDeviceGetMemoryInfo", &memory_);
  if (is_whole && begin() == kDone)
    library_ = library;
  else
    (void)dlclose(library);
  return library_ != nullptr;
}

Cards::~Cards() {
  // The library stays loaded, since it may have threads.
  if (library_ != nullptr) (void)shutdown_();
}

CardReading Cards::read(const std::string &pci_address) {
  CardReading reading;
  void *card = nullptr;
  if (pci_address.empty() || !load() || find_(pci_address.c_str(), &card) != kDone) return reading;
  unsigned temperature = 0;
  if (temperature_(card, kTemperatureOfGpu, &temperature) == kDone)
    reading.temperature_celsius = temperature;
  Memory memory{};
  if (memory_(card, &memory) == kDone) reading.memory_used_bytes = memory.used;
  return reading;
}

}  // namespace lanecrypt::service::daemon
