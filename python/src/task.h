// Something that the library is asked to do, and the objects that must stay until it is done.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "context.h"

namespace lanecrypt::python {

// For threads that hold the GIL; start() and run() are called without it. A task is run or
// submitted once.
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
  // Puts together what the library is given. Throws where it cannot.
  virtual void prepare() = 0;
  virtual lc_status run(lc_context *context) = 0;
  virtual lc_status submit(lc_context *context, lc_ticket **ticket) = 0;
  // The numbers of the messages whose tags were wrong.
  virtual std::vector<size_t> failed() const { return {}; }

  // Takes the task for its one use. After that nothing can be added.
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
  // What a message has: its key, input, output, additional data and tag.
  static constexpr size_t kMostOfOneMessage = 5;

  const nb::object owner_;
  Context *const context_;
  std::vector<nb::object> kept_;
  bool is_begun_ = false;
};

void bind_task(nb::module_ &module);

}  // namespace lanecrypt::python
