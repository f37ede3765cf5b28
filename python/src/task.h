// A request to the library, and the objects that must stay alive until it has completed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "context.h"

namespace lanecrypt::python {

// All functions need the GIL, except run() and submit(), which are called without it. A task is run
// or submitted once.
class Task {
 public:
  explicit Task(nb::object context)
      : owner_(std::move(context)), context_(&nb::cast<Context &>(owner_)) {
    kept_.reserve(kMostOfOneMessage);
  }
  virtual ~Task() = default;
  Task(const Task &) = delete;

  Context &context() const { return *context_; }
  nb::object context_object() const { return owner_; }
  // Builds the job for the library. Throws if that is impossible.
  virtual void prepare() = 0;
  virtual lc_status run(lc_context *context) = 0;
  virtual lc_status submit(lc_context *context, lc_ticket **ticket) = 0;
  // Returns the indices of the messages whose tags were wrong.
  virtual std::vector<size_t> failed() const { return {}; }

  // Starts the task's single use. Afterwards nothing can be added.
  void begin() {
    check_not_begun();
    prepare();
    is_begun_ = true;
  }

 protected:
  void check_not_begun() const {
    if (is_begun_) raise(PyExc_RuntimeError, "the task was started before");
  }
  void keep(nb::handle object) { kept_.push_back(nb::borrow(object)); }

 private:
  // The objects of one message: its key, input, output, associated data and tag.
  static constexpr size_t kMostOfOneMessage = 5;

  const nb::object owner_;
  Context *const context_;
  std::vector<nb::object> kept_;
  bool is_begun_ = false;
};

void bind_task(nb::module_ &module);

}  // namespace lanecrypt::python
