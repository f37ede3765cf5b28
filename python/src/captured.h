// A task that each launch of a CUDA graph repeats.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cipher_task.h"

namespace lanecrypt::python {

// All functions need the GIL. Only close(), or closing the context, frees the captured job. If the
// object is destroyed without close(), its context stays alive until the interpreter exits, because
// the graph may still be launched.
class Captured {
 public:
  // Captures `task`, which must have segments, in its stream. `nonce` and `verdict` are None, or
  // views on the task's device.
  Captured(nb::object task, uint64_t launches, nb::object nonce, nb::object verdict);
  ~Captured();
  Captured(const Captured &) = delete;

  // Frees the captured job. Throws if that fails; it can then be called again.
  void close();
  bool is_closed() const { return captured_ == nullptr || context_.is_freed(); }

 private:
  const nb::object task_, nonce_, verdict_;  // kept alive, with everything that the task keeps
  nb::object owner_;
  Context &context_;
  const int born_in_ = forks();
  lc_graph_job *captured_ = nullptr;
};

void bind_captured(nb::module_ &module);

}  // namespace lanecrypt::python
