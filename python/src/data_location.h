// Where the memory of a task is, and in which stream the task runs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "context.h"
#include "view.h"

namespace lanecrypt::python {

// All functions need the GIL.
class DataLocation {
 public:
  explicit DataLocation(std::optional<uintptr_t> given_stream) : given_stream_(given_stream) {}

  // Adds a view. Throws if it is not on the device of the earlier ones.
  void add(const View &view);
  // Does the same for memory that belongs to a text that was added before. `what` names it in
  // errors.
  void add_further(const View &view, const std::string &what);
  // Adds an output. If the input, which was added before, is on a device, the outputs may be in
  // host memory: all of them, or none.
  void add_output(const View &view);
  // Also true before a view has been added.
  bool is_host() const { return memory_space_ == MemorySpace::kHost; }
  lc_memory memory() const {
    if (is_host()) return LC_MEMORY_HOST;
    return brings_to_host_.value_or(false) ? LC_MEMORY_DEVICE_TO_HOST : LC_MEMORY_DEVICE;
  }
  // Returns the index of the device. The memory must not be host memory.
  uint32_t device(Context &context) const;
  // Returns a value for lc_cipher_job.stream. Throws if a stream was given and the memory is not on
  // a CUDA device.
  void *stream() const;

 private:
  bool is_here(const View &view) const;

  const std::optional<uintptr_t> given_stream_;
  std::optional<uintptr_t> framework_stream_;
  bool is_known_ = false;
  std::optional<bool> brings_to_host_;  // set once there is an output
  MemorySpace memory_space_ = MemorySpace::kHost;
  int32_t ordinal_ = 0;
};

}  // namespace lanecrypt::python
