// The extension module lanecrypt._core: the C ABI as Python objects. The public functions, with
// their documentation, are in the Python files of the package.
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
  // Test tools and notebooks may remove the package from sys.modules and import it again. Types can
  // be registered only once in a process, so the new module gets the contents of the first one.
  static PyObject *first = nullptr;
  if (first != nullptr) {
    if (PyDict_Merge(PyModule_GetDict(module.ptr()), PyModule_GetDict(first), 0) != 0)
      throw nanobind::python_error();
    return;
  }
  // At exit the interpreter does not clear all modules. Their objects are not leaks.
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
