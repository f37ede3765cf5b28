// Device memory that a Python object owns, for data that are not in an array of a framework.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "context.h"

namespace lanecrypt::python {

class View;

// All functions need the GIL.
class DeviceMemory {
 public:
  DeviceMemory(nb::object context, const std::string &device, uint64_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;

  uint8_t *address() const { return static_cast<uint8_t *>(pointer_); }
  uint64_t bytes() const { return bytes_; }
  uint32_t device() const { return device_; }
  const std::string &id() const { return id_; }
  // Returns CUDA's ordinal of the device; nothing if it is not a CUDA device.
  std::optional<int> cuda_ordinal() const;
  Context &context() const { return context_; }
  // Throws in a forked child, and if the context is closed.
  void check_there() const;
  // Says that other packages use the memory until this object is destroyed.
  void lend();

 private:
  const nb::object owner_;
  Context &context_;
  const std::string id_;
  const uint32_t device_;
  const uint64_t bytes_;
  const int born_in_ = forks();
  void *pointer_ = nullptr;
  bool is_lent_ = false;
};

void bind_device_memory(nb::module_ &module);

}  // namespace lanecrypt::python
