// The extension module lanecrypt._core: the C ABI as objects. What users call, with its
// documentation, is in Python around it.
//
// SPDX-License-Identifier: Apache-2.0
#include "captured.h"
#include "cipher_task.h"
#include "ciphers.h"
#include "context.h"
#include "device_memory.h"
#include "hash_task.h"
#include "job.h"
#include "rsa.h"
#include "secret_key.h"
#include "task.h"
#include "view.h"

NB_MODULE(_core, module) {
  namespace python = lanecrypt::python;
  // A program that forgets the package, as test tools and notebooks do, imports it again. The types
  // are registered once in a process, so the new module has what the first one has.
  static PyObject *first = nullptr;
  if (first != nullptr) {
    if (PyDict_Merge(PyModule_GetDict(module.ptr()), PyModule_GetDict(first), 0) != 0)
      throw nanobind::python_error();
    return;
  }
  // Objects of modules that the interpreter does not take apart at its end are no leaks.
  nanobind::set_leak_warnings(false);
  module.attr("VERSION") = lc_version();
  module.def("ciphers", &python::ciphers, nanobind::sig("def ciphers() -> dict[str, int]"));
  python::bind_context(module);
  python::bind_device_memory(module);
  python::bind_secret_key(module);
  python::bind_view(module);
  python::bind_task(module);
  python::bind_cipher_task(module);
  python::bind_captured(module);
  python::bind_hash_task(module);
  python::bind_rsa(module);
  python::bind_job(module);
  first = module.inc_ref().ptr();
}
