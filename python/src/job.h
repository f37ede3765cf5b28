// A task under way.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "task.h"

namespace lanecrypt::python {

// For threads that hold the GIL. An object that is let go of before its end leaves the task, and
// what the task keeps, to a list that is looked through when the task has ended.
class Job {
 public:
  // Starts the task, of whose end nobody is told yet.
  explicit Job(nb::object task);
  ~Job();
  Job(const Job &) = delete;

  bool is_done();
  // Waits for the end, for ever without a number of seconds. False where the time was over
  // before. Signals of Python's are handled meanwhile.
  bool wait(std::optional<double> seconds);
  // Throws what became of the task where it failed. It must be done. Where it did not fail, lets go
  // of it.
  void finish();
  // An eventfd(2) that can be read from when the job is done, for one waiter, who gives it back.
  int add_descriptor();
  void remove_descriptor(int descriptor);

  // What outlives the object: where the library tells the end.
  struct State;

 private:
  void check_process() const;
  lc_status hear_of_end();

  nb::object owner_;  // until finish()
  Task &task_;
  std::shared_ptr<State> state_;  // from hear_of_end() on
  const int born_in_ = forks();
  lc_ticket *ticket_ = nullptr;
  bool is_over_ = false, is_finished_ = false;
};

void bind_job(nb::module_ &module);

}  // namespace lanecrypt::python
