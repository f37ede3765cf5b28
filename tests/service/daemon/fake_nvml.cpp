// A fake NVML, NVIDIA's management library, with fake cards.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kDone = 0, kNotSupported = 3, kNotFound = 6;
int begun = 0;
// Two cards. The second reports no temperature.
char first, second;

}  // namespace

// The names and types are NVML's.
extern "C" {

int nvmlInit_v2() {
  if (std::getenv("FAKE_NVML_FAILS") != nullptr) return kNotFound;
  ++begun;
  return kDone;
}

int nvmlShutdown() {
  --begun;
  return kDone;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **card) {
  if (begun == 0) return kNotFound;
  *card = std::strcmp(address, "0000:01:00.0") == 0   ? &first
          : std::strcmp(address, "0000:02:00.0") == 0 ? &second
                                                      : nullptr;
  return *card == nullptr ? kNotFound : kDone;
}

int nvmlDeviceGetTemperature(void *card, int sensor, unsigned *celsius) {
  if (sensor != 0 || card != &first) return kNotSupported;
  *celsius = 41;
  return kDone;
}

struct FakeMemory {
  unsigned long long total, free, used;
};

int nvmlDeviceGetMemoryInfo(void *, FakeMemory *memory) {
  *memory = {100, 70, 30};
  return kDone;
}

// Not of NVML: the number of nvmlInit_v2() calls without their nvmlShutdown().
int fake_nvml_begun() { return begun; }

}  // extern "C"
