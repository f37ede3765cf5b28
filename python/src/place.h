// Where the memory of a task lies, and in which stream it is worked on.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "context.h"
#include "view.h"

namespace lanecrypt::python {

// For threads that hold the GIL.
class Place {
 public:
  explicit Place(std::optional<uintptr_t> given_stream) : given_stream_(given_stream) {}

  // Throws where the view lies elsewhere than those before it.
  void add(const View &view);
  // The same for what goes with a text that was added before. `what` is its name for a person.
  void add_beside(const View &view, const std::string &what);
  // The same, but that output may be in host memory where the input, which comes before it, is not:
  // all of it, or none.
  void add_output(const View &view);
  // Before there is a view, too.
  bool is_host() const { return room_ == Room::kHost; }
  lc_memory memory() const {
    if (is_host()) return LC_MEMORY_HOST;
    return brings_to_host_.value_or(false) ? LC_MEMORY_DEVICE_TO_HOST : LC_MEMORY_DEVICE;
  }
  // The number of the device, which is not the host.
  uint32_t device(Context &context) const;
  // As lc_cipher_job.stream. Throws where a stream was given, and the memory is not CUDA's.
  void *stream() const;

 private:
  bool is_here(const View &view) const;

  const std::optional<uintptr_t> given_stream_;
  std::optional<uintptr_t> framework_stream_;
  bool is_known_ = false;
  std::optional<bool> brings_to_host_;  // where there is output
  Room room_ = Room::kHost;
  int32_t ordinal_ = 0;
};

}  // namespace lanecrypt::python
