// A task that a CUDA graph does again at each launch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cipher_task.h"

namespace lanecrypt::python {

// For threads that hold the GIL. It is freed by close() and with its context alone, which it keeps
// for ever where it goes without close(): who lets go of it may still launch the graph.
class Captured {
 public:
  // `task` has segments, and goes into its stream. nonce, verdict: None, or views on its device.
  Captured(nb::object task, uint64_t launches, nb::object nonce, nb::object verdict);
  ~Captured();
  Captured(const Captured &) = delete;

  // Throws where it cannot be freed, and can be called again.
  void close();
  bool is_closed() const { return captured_ == nullptr || context_.is_freed(); }

 private:
  const nb::object task_, nonce_, verdict_;  // kept, with what the task keeps
  nb::object owner_;
  Context &context_;
  const int born_in_ = forks();
  lc_captured *captured_ = nullptr;
};

void bind_captured(nb::module_ &module);

}  // namespace lanecrypt::python
