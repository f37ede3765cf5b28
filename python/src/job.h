// A submitted task.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "task.h"

namespace lanecrypt::python {

// All functions need the GIL. If a Job is destroyed before its task has completed, the task and the
// objects that it keeps go to a list, which is cleared when the task has completed.
class Job {
 public:
  // Submits the task. No completion callback is registered yet.
  explicit Job(nb::object task);
  ~Job();
  Job(const Job &) = delete;

  bool is_done();
  // Waits until the task has completed, without limit if `seconds` is not set. Returns false on a
  // timeout. Handles Python's signals meanwhile.
  bool wait(std::optional<double> seconds);
  // Throws the error of the task if it failed; otherwise releases the task. It must have completed.
  void finish();
  // Returns an eventfd(2) that becomes readable when the job has completed. It is for one waiter,
  // which passes it to remove_descriptor().
  int add_descriptor();
  void remove_descriptor(int descriptor);

  // The state that the completion callback uses, which outlives the Job.
  struct State;

 private:
  void check_process() const;
  lc_status hear_of_end();

  nb::object owner_;  // the task, until finish()
  Task &task_;
  std::shared_ptr<State> state_;  // from hear_of_end() on
  const int born_in_ = forks();
  lc_ticket *ticket_ = nullptr;
  bool is_over_ = false, is_finished_ = false;
};

void bind_job(nb::module_ &module);

}  // namespace lanecrypt::python
