// SPDX-License-Identifier: Apache-2.0
#include "device_memory.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>

#include "dlpack.h"
#include "view.h"

namespace lanecrypt::python {
namespace {

// A DLPack tensor for the memory. It keeps a reference to the Python object.
struct Export {
  dlpack::DLManagedTensorVersioned versioned = {};
  dlpack::DLManagedTensor managed = {};
  int64_t shape[1], strides[1] = {1};
  PyObject *memory = nullptr;
};

// Called by the consumer of the tensor, with or without the GIL.
void delete_export(Export *exported) {
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF(exported->memory);
  PyGILState_Release(state);
  delete exported;
}

void delete_untaken(PyObject *capsule) {
  for (const char *name : {"dltensor_versioned", "dltensor"}) {
    if (!PyCapsule_IsValid(capsule, name)) continue;
    delete_export(static_cast<Export *>(PyCapsule_GetContext(capsule)));
  }
}

int cuda_ordinal_of(const DeviceMemory &memory) {
  memory.check_there();
  const std::optional<int> ordinal = memory.cuda_ordinal();
  if (!ordinal)
    raise(PyExc_BufferError,
          "only memory of a CUDA device can be given to others, not that of " + memory.id());
  return *ordinal;
}

nb::object to_dlpack(nb::handle self, nb::kwargs words) {
  DeviceMemory &memory = nb::cast<DeviceMemory &>(self);
  const int ordinal = cuda_ordinal_of(memory);
  memory.lend();
  auto exported = std::make_unique<Export>();
  exported->shape[0] = static_cast<int64_t>(memory.bytes());
  const dlpack::DLTensor tensor = {.data = memory.address(),
                                   .device = {dlpack::kDLCUDA, ordinal},
                                   .ndim = 1,
                                   .dtype = {dlpack::kDLUInt, 8, 1},
                                   .shape = exported->shape,
                                   .strides = exported->strides,
                                   .byte_offset = 0};
  const bool is_versioned = words.contains("max_version") && !words["max_version"].is_none();
  exported->versioned.version = {dlpack::kMajorVersion, dlpack::kMinorVersion};
  exported->versioned.dl_tensor = exported->managed.dl_tensor = tensor;
  exported->versioned.manager_ctx = exported->managed.manager_ctx = exported.get();
  exported->versioned.deleter = [](dlpack::DLManagedTensorVersioned *its) {
    delete_export(static_cast<Export *>(its->manager_ctx));
  };
  exported->managed.deleter = [](dlpack::DLManagedTensor *its) {
    delete_export(static_cast<Export *>(its->manager_ctx));
  };
  void *const given = is_versioned ? static_cast<void *>(&exported->versioned)
                                   : static_cast<void *>(&exported->managed);
  nb::object capsule = nb::steal(
      PyCapsule_New(given, is_versioned ? "dltensor_versioned" : "dltensor", delete_untaken));
  if (!capsule.is_valid()) throw nb::python_error();
  exported->memory = self.inc_ref().ptr();
  PyCapsule_SetContext(capsule.ptr(), exported.release());
  return capsule;
}

nb::dict cuda_array_interface(DeviceMemory &memory) {
  (void)cuda_ordinal_of(memory);
  memory.lend();
  nb::dict told;
  told["shape"] = nb::make_tuple(memory.bytes());
  told["typestr"] = "|u1";
  told["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(memory.address()), false);
  told["strides"] = nb::none();
  told["stream"] = nb::none();  // no stream: jobs on the memory complete before their calls return
  told["version"] = 3;
  return told;
}

}  // namespace

DeviceMemory::DeviceMemory(nb::object context, const std::string &device, uint64_t bytes)
    : owner_(context),
      context_(nb::cast<Context &>(context)),
      id_(device),
      device_(context_.index_of(device)),
      bytes_(bytes) {
  check(
      context_.call([&](lc_context *c) { return lc_alloc_device(c, device_, bytes, &pointer_); }));
}

DeviceMemory::~DeviceMemory() {
  // A forked child does not own the memory.
  if (pointer_ != nullptr && !context_.is_freed() && born_in_ == forks()) {
    try {
      (void)context_.call([&](lc_context *c) { return lc_free_device(c, device_, pointer_); },
                          Context::Purpose::kFreeing);
    } catch (nb::python_error &) {
      // The interpreter is exiting.
    }
  }
  if (is_lent_) context_.take_back();
}

void DeviceMemory::lend() {
  if (!is_lent_) context_.lend();
  is_lent_ = true;
}

std::optional<int> DeviceMemory::cuda_ordinal() const {
  if (id_.rfind("cuda:", 0) != 0) return std::nullopt;
  return std::stoi(id_.substr(5));
}

void DeviceMemory::check_there() const {
  if (born_in_ != forks())
    raise(PyExc_RuntimeError, "the memory belongs to the process that this one was forked from");
  if (context_.is_closed())
    raise(PyExc_ValueError, "the memory went with its context, which is closed");
}

void bind_device_memory(nb::module_ &module) {
  nb::class_<DeviceMemory>(
      module, "DeviceMemory",
      "Memory on one device, for data that are not in an array of a framework. Context.allocate()\n"
      "makes it, and it is freed with this object. All functions of this package take it as a\n"
      "one-dimensional array of bytes. On a CUDA device, other packages can use it through\n"
      "__dlpack__ or __cuda_array_interface__.")
      .def_prop_ro("nbytes", &DeviceMemory::bytes)
      .def_prop_ro("device", [](const DeviceMemory &memory) { return memory.id(); })
      .def(
          "copy_from",
          [](nb::handle self, nb::handle data, uint64_t offset) {
            const View view(self, true, {});
            nb::cast<DeviceMemory &>(self).context().write(view, offset, data);
          },
          nb::arg("data"), nb::arg("offset") = 0,
          "Copies a bytes-like object, or an array in host memory, into this memory from `offset` "
          "on.")
      .def(
          "to_bytes",
          [](nb::handle self, std::optional<uint64_t> bytes, uint64_t offset) {
            const View view(self, false, {});
            view.check_range(offset, bytes.value_or(0));
            return nb::cast<DeviceMemory &>(self).context().read(
                view, offset, bytes.value_or(view.bytes() - offset));
          },
          nb::arg("nbytes") = nb::none(), nb::arg("offset") = 0,
          nb::sig("def to_bytes(self, nbytes: int | None = None, offset: int = 0) -> bytes"),
          "Returns a copy of `nbytes` bytes from `offset` on, or of all bytes from there.")
      .def("__dlpack__", &to_dlpack, nb::arg("words"),
           nb::sig("def __dlpack__(self, **words: object) -> typing.Any"))
      .def(
          "__dlpack_device__",
          [](const DeviceMemory &memory) {
            return nb::make_tuple(int(dlpack::kDLCUDA), cuda_ordinal_of(memory));
          },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def_prop_ro("__cuda_array_interface__", &cuda_array_interface,
                   nb::sig("def __cuda_array_interface__(self) -> dict[str, typing.Any]"));
  module.def(
      "allocate",
      [](nb::object context, const std::string &device, uint64_t bytes) {
        return std::make_unique<DeviceMemory>(std::move(context), device, bytes);
      },
      nb::arg("context"), nb::arg("device"), nb::arg("nbytes"));
}

}  // namespace lanecrypt::python
