// SPDX-License-Identifier: Apache-2.0
#include "errors.h"

namespace lanecrypt::python {

void raise(const Outcome &outcome, const std::vector<size_t> &failed) {
  nb::list numbers;
  for (const size_t number : failed) numbers.append(number);
  const std::string &text = outcome.text;
  const nb::object error =
      nb::module_::import_("lanecrypt._errors")
          .attr("error_for")(int(outcome.status),
                             text.empty() ? lc_status_text(outcome.status) : text.c_str(), numbers);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

void raise(PyObject *type, const std::string &text) {
  PyErr_SetString(type, text.c_str());
  throw nb::python_error();
}

}  // namespace lanecrypt::python
