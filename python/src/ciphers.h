// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "errors.h"

namespace lanecrypt::python {

// Returns the number of each cipher in the C ABI, by its name.
nb::dict ciphers();

}  // namespace lanecrypt::python
