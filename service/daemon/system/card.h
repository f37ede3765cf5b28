// What only NVIDIA's management library tells of a card.
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

// One thread. The library is loaded when it is first asked. It may take some milliseconds.
class Cards {
 public:
  Cards() = default;
  ~Cards();
  Cards(const Cards &) = delete;

  // pci_address: as lc_device_info has it. What cannot be told is left out.
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
