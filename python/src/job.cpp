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

// Never freed: what is in it may still be written to.
std::vector<Abandoned> &abandoned() {
  static auto *const list = new std::vector<Abandoned>;
  return *list;
}

// Whether one more job can be abandoned without memory for it.
bool has_room_to_abandon() {
  try {
    abandoned().reserve(abandoned().size() + 1);
    return true;
  } catch (const std::bad_alloc &) {
    return false;
  }
}

// Lets go of what abandoned jobs kept, as far as these have ended.
void reap() {
  std::vector<Abandoned> ended;
  auto &list = abandoned();
  const auto first = std::stable_partition(list.begin(), list.end(), [](const Abandoned &one) {
    const std::lock_guard lock(one.state->mutex);
    return !one.state->is_done;
  });
  std::move(first, list.end(), std::back_inserter(ended));
  list.erase(first, list.end());
  // Their objects go last, since they may come back here.
}

int reap_when_called(void *) {
  reap();
  return 0;
}

// On a thread that may lack the GIL.
void tell_end(void *argument, lc_status) {
  const std::unique_ptr<std::shared_ptr<Job::State>> held(
      static_cast<std::shared_ptr<Job::State> *>(argument));
  Job::State &state = **held;
  const std::lock_guard lock(state.mutex);
  state.is_done = true;
  for (const int descriptor : state.descriptors) (void)eventfd_write(descriptor, 1);
  // Where the interpreter has no room for this, the next job looks through the list.
  if (state.is_abandoned) (void)Py_AddPendingCall(&reap_when_called, nullptr);
}

}  // namespace

Job::Job(nb::object task) : owner_(std::move(task)), task_(nb::cast<Task &>(owner_)) {
  reap();
  task_.begin();
  check(task_.context().call([&](lc_context *context) { return task_.submit(context, &ticket_); }));
}

// From then on the library tells the end. With the GIL, which what it waits for never needs.
lc_status Job::hear_of_end() {
  if (state_ != nullptr) return LC_OK;
  std::shared_ptr<State> state;
  std::unique_ptr<std::shared_ptr<State>> held;
  try {
    state = std::make_shared<State>();
    held = std::make_unique<std::shared_ptr<State>>(state);
  } catch (const std::bad_alloc &) {  // the destructor asks too
    return LC_ERROR_MEMORY;
  }
  lc_completion completion = {};
  completion.struct_size = sizeof completion;
  completion.callback = &tell_end;
  completion.argument = held.get();
  completion.eventfd = -1;
  const lc_status status = lc_ticket_notify(ticket_, &completion);
  if (status != LC_OK) return status;
  (void)held.release();  // tell_end's
  state_ = std::move(state);
  return LC_OK;
}

Job::~Job() {
  // The parent's ticket is nothing that a child of fork may touch.
  if (ticket_ == nullptr || born_in_ != forks()) return;
  bool is_under_way = !is_over_ && lc_ticket_status(ticket_) == LC_PENDING;
  if (is_under_way && (!has_room_to_abandon() || hear_of_end() != LC_OK)) {
    // There is no memory for that.
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
  const nb::object kept = owner_;  // another thread may call finish() meanwhile
  check_process();
  // To wait tells it too, but where nobody may go inside any more.
  if (is_over_ || (!task_.context().is_open() && is_done())) return true;
  // A century is for ever.
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
  // It returns at once, and may be called when the context is closed.
  if (const lc_status status = lc_ticket_wait(ticket_, nullptr); status != LC_OK)
    raise({status, lc_last_error()}, task_.failed());
  is_over_ = is_finished_ = true;
  // What it kept is the caller's again. The end of a tensor lets go of the GIL, and another thread
  // that comes meanwhile must not find a task that goes.
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
