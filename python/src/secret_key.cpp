// SPDX-License-Identifier: Apache-2.0
#include "secret_key.h"

#include <cstring>

namespace lanecrypt::python {

SecretKey::SecretKey(nb::handle bytes, bool wipes) {
  if (!PyObject_CheckBuffer(bytes.ptr())) {
    // The argument may be the key itself, so the message contains only its type.
    const nb::str type = nb::str(bytes.type().attr("__name__"));
    raise(PyExc_TypeError,
          std::string("a key is a bytes-like object or a KeyProvider, not ") + type.c_str());
  }
  Py_buffer buffer;
  if (PyObject_GetBuffer(bytes.ptr(), &buffer, PyBUF_SIMPLE) != 0) {
    // The original error text of a foreign type may contain the key too.
    PyErr_Clear();
    raise(PyExc_BufferError, "the bytes of the key do not lie one behind the other in memory");
  }
  const size_t size = static_cast<size_t>(buffer.len);
  memory_ = secure::KeyMemory(size, secure::KeyMemory::Fork::kKept);
  const bool is_there = memory_.ok(size);
  if (is_there && size != 0) std::memcpy(memory_.data(), buffer.buf, size);
  if (wipes && !buffer.readonly) secure::wipe(buffer.buf, size);
  PyBuffer_Release(&buffer);
  if (!is_there) raise({LC_ERROR_MEMORY, "no memory for the key"});
}

void bind_secret_key(nb::module_ &module) {
  nb::class_<SecretKey>(module, "SecretKey")
      .def(nb::init<nb::handle, bool>(), nb::arg("key").none(), nb::arg("wipes") = false)
      .def_prop_ro("nbytes", &SecretKey::size)
      .def(
          "__reduce_ex__",
          [](const SecretKey &, nb::handle) -> nb::object {
            raise(PyExc_TypeError, "a key cannot be pickled");
          },
          nb::sig("def __reduce_ex__(self, protocol: object, /) -> str"));
}

}  // namespace lanecrypt::python
