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
  task.add_beside(place);
  return place.data();
}

}  // namespace

Captured::Captured(nb::object task, uint64_t launches, nb::object nonce, nb::object verdict)
    : task_(std::move(task)),
      nonce_(std::move(nonce)),
      verdict_(std::move(verdict)),
      context_(nb::cast<CipherTask &>(task_).context()) {
  CipherTask &its = nb::cast<CipherTask &>(task_);
  lc_replays replays = {};
  replays.struct_size = sizeof replays;
  replays.count = launches;
  replays.nonce = address_of(nonce_, its.job().iv_bytes, "the nonce or IV", its);
  replays.verdict = address_of(verdict_, 1, "the verdict", its);
  its.begin();
  check(context_.call(
      [&](lc_context *c) { return lc_capture(c, &its.job(), &replays, &captured_); }));
}

void Captured::close() {
  lc_captured *const captured = std::exchange(captured_, nullptr);
  if (captured == nullptr || context_.is_closed()) return;
  check(context_.call([&](lc_context *c) { return lc_captured_free(c, captured); }));
}

void bind_captured(nb::module_ &module) {
  nb::class_<Captured>(module, "Captured")
      .def(nb::init<nb::object, uint64_t, nb::object, nb::object>(), nb::arg("task"),
           nb::arg("launches"), nb::arg("nonce").none(), nb::arg("verdict").none())
      .def("close", &Captured::close)
      .def_prop_ro("closed", &Captured::is_closed);
}

}  // namespace lanecrypt::python
