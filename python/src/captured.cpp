// SPDX-License-Identifier: Apache-2.0
#include "captured.h"

#include <string>
#include <utility>

namespace lanecrypt::python {
namespace {

void *address_of(nb::handle view, uint64_t bytes, const char *which, CipherTask &task) {
  if (view.is_none()) return nullptr;
  const View &place = nb::cast<const View &>(view);
  if (place.bytes() != bytes)
    raise(PyExc_ValueError, std::string(which) + " has " + std::to_string(bytes) + " bytes, not " +
                                std::to_string(place.bytes()));
  task.add_further(place, which);
  return place.data();
}

}  // namespace

Captured::Captured(nb::object task, uint64_t launches, nb::object nonce, nb::object verdict)
    : task_(std::move(task)),
      nonce_(std::move(nonce)),
      verdict_(std::move(verdict)),
      owner_(nb::cast<CipherTask &>(task_).context_object()),
      context_(nb::cast<Context &>(owner_)) {
  CipherTask &its = nb::cast<CipherTask &>(task_);
  lc_graph_update update = {};
  update.struct_size = sizeof update;
  update.count = launches;
  update.nonce = address_of(nonce_, its.job().iv_bytes, "the nonce or IV", its);
  update.verdict = address_of(verdict_, 1, "the verdict", its);
  its.begin();
  check(
      context_.call([&](lc_context *c) { return lc_capture(c, &its.job(), &update, &captured_); }));
}

Captured::~Captured() {
  // Keeps the context alive: its owner closes it, or the exit of the interpreter does.
  if (!is_closed()) (void)owner_.release();
}

void Captured::close() {
  if (is_closed()) return;
  if (born_in_ != forks())
    raise(PyExc_RuntimeError,
          "what is captured belongs to the process that this one was forked from");
  // Takes the pointer first: call() releases the GIL, and another thread must not free it too.
  lc_graph_job *const captured = std::exchange(captured_, nullptr);
  try {
    check(context_.call([&](lc_context *c) { return lc_graph_job_free(c, captured); },
                        Context::Purpose::kFreeing));
  } catch (...) {
    captured_ = captured;
    throw;
  }
}

void bind_captured(nb::module_ &module) {
  nb::class_<Captured>(module, "Captured")
      .def(nb::init<nb::object, uint64_t, nb::object, nb::object>(), nb::arg("task"),
           nb::arg("launches"), nb::arg("nonce").none(), nb::arg("verdict").none())
      .def("close", &Captured::close)
      .def_prop_ro("closed", &Captured::is_closed);
}

}  // namespace lanecrypt::python
