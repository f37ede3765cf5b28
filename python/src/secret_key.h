// A key as Python holds it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "errors.h"
#include "secure/key_memory.h"

namespace lanecrypt::python {

// A copy in locked memory, which is wiped with the object. A child of fork has it too, as it has
// all other objects of the interpreter.
class SecretKey {
 public:
  // Copies a bytes-like object. A bytearray is wiped if `wipes` is set.
  SecretKey(nb::handle bytes, bool wipes);
  SecretKey(const SecretKey &) = delete;

  const uint8_t *data() const { return memory_.data(); }
  size_t size() const { return memory_.size(); }

 private:
  secure::KeyMemory memory_;
};

void bind_secret_key(nb::module_ &module);

}  // namespace lanecrypt::python
