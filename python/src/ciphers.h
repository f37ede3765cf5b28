// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "errors.h"

namespace lanecrypt::python {

// The number of each cipher of the C ABI, by its name.
nb::dict ciphers();

}  // namespace lanecrypt::python
