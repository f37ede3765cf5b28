// Reads what only NVML, NVIDIA's management library, reports of a card.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lanecrypt::service::daemon {

struct CardReading {
  std::optional<uint32_t> temperature_celsius;
  std::optional<uint64_t> memory_used_bytes;
};

// Not thread-safe. Loads NVML at the first call. A call may take some milliseconds.
class Cards {
 public:
  Cards() = default;
  ~Cards();
  Cards(const Cards &) = delete;

  // Reads a card. `pci_address`: as in lc_device_info. Values that NVML does not report are
  // nullopt.
  CardReading read(const std::string &pci_address);

 private:
  bool load();

  bool was_loaded_ = false;
  void *library_ = nullptr;
  int (*shutdown_)() = nullptr;
  int (*find_)(const char *, void **) = nullptr;
  int (*temperature_)(void *, int, unsigned *) = nullptr;
  int (*memory_)(void *, void *) = nullptr;
};

}  // namespace lanecrypt::service::daemon
