// The result of a call of the C ABI, and its conversion to a Python exception.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::python {

namespace nb = nanobind;

struct Outcome {
  lc_status status = LC_OK;
  std::string text;  // the library's message
};

// The following functions need the GIL.

// Throws the exception that lanecrypt._errors makes from the outcome. `failed` has the indices of
// the messages whose tags are wrong.
[[noreturn]] void raise(const Outcome &outcome, const std::vector<size_t> &failed = {});
inline void check(const Outcome &outcome) {
  if (outcome.status != LC_OK) raise(outcome);
}
// Throws an exception of a built-in Python type.
[[noreturn]] void raise(PyObject *type, const std::string &text);

}  // namespace lanecrypt::python
