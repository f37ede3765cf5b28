// A symmetric key that a Python object holds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "errors.h"
#include "secure/key_memory.h"

namespace lanecrypt::python {

// A copy of a key in locked memory, which is erased with the object. A forked child has it too,
// like all other objects of the interpreter.
class SecretKey {
 public:
  // Copies a bytes-like object. Erases a bytearray if `wipes` is set.
  SecretKey(nb::handle bytes, bool wipes);
  SecretKey(const SecretKey &) = delete;

  const uint8_t *data() const { return memory_.data(); }
  size_t size() const { return memory_.size(); }

 private:
  secure::KeyMemory memory_;
};

void bind_secret_key(nb::module_ &module);

}  // namespace lanecrypt::python
