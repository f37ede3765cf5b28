// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <mutex>
#include <new>
#include <vector>

namespace lanecrypt::python {

struct Job::State {
  std::mutex mutex;
  bool is_done = false, is_abandoned = false;
  std::vector<int> descriptors;
};

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSignalsEvery = std::chrono::milliseconds(50);

struct Abandoned {
  std::shared_ptr<Job::State> state;
  nb::object task;
};

// The abandoned jobs. Never freed, because the library may still write to their memory.
std::vector<Abandoned> &abandoned() {
  static auto *const list = new std::vector<Abandoned>;
  return *list;
}

// Reserves memory for one more abandoned job. Returns false if there is none.
bool has_room_to_abandon() {
  try {
    abandoned().reserve(abandoned().size() + 1);
    return true;
  } catch (const std::bad_alloc &) {
    return false;
  }
}

// Releases the objects of abandoned jobs that have completed.
void reap() {
  std::vector<Abandoned> ended;
  auto &list = abandoned();
  const auto first = std::stable_partition(list.begin(), list.end(), [](const Abandoned &one) {
    const std::lock_guard lock(one.state->mutex);
    return !one.state->is_done;
  });
  std::move(first, list.end(), std::back_inserter(ended));
  list.erase(first, list.end());
  // The objects are released last, because their destructors may call reap() again.
}

int reap_when_called(void *) {
  reap();
  return 0;
}

// The library's completion callback. May run without the GIL.
void tell_end(void *argument, lc_status) {
  const std::unique_ptr<std::shared_ptr<Job::State>> held(
      static_cast<std::shared_ptr<Job::State> *>(argument));
  Job::State &state = **held;
  const std::lock_guard lock(state.mutex);
  state.is_done = true;
  for (const int descriptor : state.descriptors) (void)eventfd_write(descriptor, 1);
  // If the interpreter's queue is full, the next Job calls reap().
  if (state.is_abandoned) (void)Py_AddPendingCall(&reap_when_called, nullptr);
}

}  // namespace

Job::Job(nb::object task) : owner_(std::move(task)), task_(nb::cast<Task &>(owner_)) {
  reap();
  task_.begin();
  check(task_.context().call([&](lc_context *context) { return task_.submit(context, &ticket_); }));
}

// Registers the completion callback. Needs the GIL, which the callback does not take, so no
// deadlock is possible.
lc_status Job::hear_of_end() {
  if (state_ != nullptr) return LC_OK;
  std::shared_ptr<State> state;
  std::unique_ptr<std::shared_ptr<State>> held;
  try {
    state = std::make_shared<State>();
    held = std::make_unique<std::shared_ptr<State>>(state);
  } catch (const std::bad_alloc &) {  // the destructor calls this too, so it must not throw
    return LC_ERROR_MEMORY;
  }
  lc_completion completion = {};
  completion.struct_size = sizeof completion;
  completion.callback = &tell_end;
  completion.argument = held.get();
  completion.eventfd = -1;
  const lc_status status = lc_ticket_notify(ticket_, &completion);
  if (status != LC_OK) return status;
  (void)held.release();  // tell_end() owns it now
  state_ = std::move(state);
  return LC_OK;
}

Job::~Job() {
  // A forked child must not touch the parent's ticket.
  if (ticket_ == nullptr || born_in_ != forks()) return;
  bool is_under_way = !is_over_ && lc_ticket_status(ticket_) == LC_PENDING;
  if (is_under_way && (!has_room_to_abandon() || hear_of_end() != LC_OK)) {
    // There is not enough memory to abandon the job, so wait for it.
    const nb::gil_scoped_release released;
    (void)lc_ticket_wait(ticket_, nullptr);
    is_under_way = false;
  }
  lc_ticket_free(ticket_);
  if (is_under_way) {
    const std::lock_guard lock(state_->mutex);
    is_under_way = !state_->is_done;
    state_->is_abandoned = is_under_way;
  }
  if (is_under_way) abandoned().push_back({state_, std::move(owner_)});
}

void Job::check_process() const {
  if (born_in_ != forks())
    raise(PyExc_RuntimeError, "the job belongs to the process that this one was forked from");
}

bool Job::is_done() {
  check_process();
  if (is_over_) return true;
  bool is_over = false;
  {
    const nb::gil_scoped_release released;
    is_over = lc_ticket_status(ticket_) != LC_PENDING;
  }
  return is_over_ = is_over;
}

bool Job::wait(std::optional<double> seconds) {
  if (seconds && std::isnan(*seconds)) raise(PyExc_ValueError, "the timeout is not a number");
  const nb::object kept = owner_;  // another thread may call finish() during the wait
  check_process();
  // Waiting would find this too, but is not possible if the context is closed.
  if (is_over_ || (!task_.context().is_open() && is_done())) return true;
  // Without a limit, waits for about a century.
  const auto limit =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                         std::clamp(seconds.value_or(3e9), 0.0, 3e9)));
  const Context::Inside inside(task_.context());
  for (;;) {
    const auto left = std::max(Clock::duration(0), limit - Clock::now());
    const auto turn = std::chrono::nanoseconds(std::min<Clock::duration>(left, kSignalsEvery));
    bool is_over = false;
    {
      const nb::gil_scoped_release released;
      is_over = lc_ticket_wait_for(ticket_, turn.count(), nullptr) != LC_PENDING;
    }
    if (is_over) return is_over_ = true;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (Clock::now() >= limit) return false;
  }
}

void Job::finish() {
  check_process();
  if (is_finished_) return;
  // The job has completed, so this returns at once. It is allowed after the context is closed.
  if (const lc_status status = lc_ticket_wait(ticket_, nullptr); status != LC_OK)
    raise({status, lc_last_error()}, task_.failed());
  is_over_ = is_finished_ = true;
  // Releases the objects that the task kept. Moves the owner out first: destroying a tensor may
  // release the GIL, and another thread must not find a task that is being destroyed.
  const nb::object gone = std::move(owner_);
}

int Job::add_descriptor() {
  check_process();
  if (const lc_status status = hear_of_end(); status != LC_OK) raise({status, lc_last_error()});
  const int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) {
    PyErr_SetFromErrno(PyExc_OSError);
    throw nb::python_error();
  }
  const std::lock_guard lock(state_->mutex);
  state_->descriptors.push_back(descriptor);
  if (state_->is_done) (void)eventfd_write(descriptor, 1);
  return descriptor;
}

void Job::remove_descriptor(int descriptor) {
  if (born_in_ == forks()) {
    const std::lock_guard lock(state_->mutex);
    auto &all = state_->descriptors;
    all.erase(std::remove(all.begin(), all.end(), descriptor), all.end());
  }
  close(descriptor);
}

void bind_job(nb::module_ &module) {
  nb::class_<Job>(module, "Job")
      .def(nb::init<nb::object>(), nb::arg("task"))
      .def("done", &Job::is_done)
      .def("wait", &Job::wait, nb::arg("seconds").none())
      .def("finish", &Job::finish)
      .def("add_descriptor", &Job::add_descriptor)
      .def("remove_descriptor", &Job::remove_descriptor, nb::arg("descriptor"));
}

}  // namespace lanecrypt::python
