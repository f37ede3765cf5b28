// What became of a call of the C ABI, and the exception of Python's for it.
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
  std::string text;  // the library's sentence for a person
};

// The rest is for threads that hold the GIL.

// Throws the exception that lanecrypt._errors makes of the outcome. `failed`: the numbers of the
// messages whose tags are wrong.
[[noreturn]] void raise(const Outcome &outcome, const std::vector<size_t> &failed = {});
inline void check(const Outcome &outcome) {
  if (outcome.status != LC_OK) raise(outcome);
}
// Throws an exception of one of Python's own types.
[[noreturn]] void raise(PyObject *type, const std::string &text);

}  // namespace lanecrypt::python
