// SPDX-License-Identifier: Apache-2.0
#include "view.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <typeinfo>

#include "cuda_driver.h"
#include "device_memory.h"

namespace lanecrypt::python {
namespace {

[[noreturn]] void raise_not_packed() {
  raise(PyExc_BufferError,
        "the array is not contiguous: its bytes do not lie one behind the other in C's order. "
        "Make a copy that is, by .contiguous() or numpy.ascontiguousarray()");
}

// Returns whether items with these strides, counted in items, are contiguous in C order.
bool is_packed(const std::vector<int64_t> &shape, const int64_t *strides) {
  if (strides == nullptr) return true;
  for (const int64_t length : shape)
    if (length == 0) return true;
  int64_t expected = 1;
  for (size_t n = shape.size(); n-- > 0;) {
    if (shape[n] != 1 && strides[n] != expected) return false;
    expected *= shape[n];
  }
  return true;
}

[[noreturn]] void raise_broken(const std::string &entry) {
  raise(PyExc_TypeError, "its __cuda_array_interface__ has no right entry '" + entry + "'");
}

// Returns an entry of an array interface. An optional entry that is missing is None.
nb::object entry(nb::handle interface, const char *name, bool may_lack = false) {
  PyObject *const found =
      PyDict_Check(interface.ptr()) ? PyDict_GetItemString(interface.ptr(), name) : nullptr;
  if (found == nullptr && !may_lack) raise_broken(name);
  return found == nullptr ? nb::none() : nb::borrow(found);
}

// Returns the numbers of a tuple, such as a shape.
std::vector<int64_t> numbers_of(nb::handle tuple, const char *name) {
  std::vector<int64_t> numbers;
  if (!nb::isinstance<nb::tuple>(tuple)) raise_broken(name);
  for (const nb::handle number : tuple) {
    numbers.push_back(PyLong_AsLongLong(number.ptr()));
    if (PyErr_Occurred()) throw nb::python_error();
  }
  return numbers;
}

// Returns whether items with this format of the buffer protocol are object references.
bool holds_objects(const char *format) {
  bool in_name = false;
  for (; format != nullptr && *format != '\0'; ++format) {
    if (*format == ':') in_name = !in_name;
    if (*format == 'O' && !in_name) return true;
  }
  return false;
}

// Returns the number of items of an array with this shape.
uint64_t items_of(const std::vector<int64_t> &shape) {
  uint64_t items = 1;
  for (const int64_t length : shape) {
    if (length < 0 || __builtin_mul_overflow(items, static_cast<uint64_t>(length), &items))
      raise(PyExc_ValueError, "the array has a shape that no memory has");
  }
  return items;
}

// Returns the bytes of one item from the typestr of an array interface, such as "<f4".
int64_t item_bytes_of(const std::string &typestr) {
  int64_t bytes = 0;
  for (size_t n = 2; n < typestr.size() && n < 12; ++n) {
    if (typestr[n] < '0' || typestr[n] > '9') raise_broken("typestr");
    bytes = 10 * bytes + (typestr[n] - '0');
  }
  if (bytes == 0) raise_broken("typestr");
  return bytes;
}

nb::object attribute_or_nothing(nb::handle object, const char *name) {
  nb::object value = nb::steal(PyObject_GetAttrString(object.ptr(), name));
  if (!value.is_valid()) PyErr_Clear();
  return value;
}

// Returns the name of the object's framework: the first part of its type's module.
std::string framework_of(nb::handle object) {
  const nb::object module = attribute_or_nothing(object.type(), "__module__");
  if (!module.is_valid() || !nb::isinstance<nb::str>(module)) return "";
  const std::string name = nb::cast<std::string>(module);
  return name.substr(0, name.find('.'));
}

// Returns whether the object is one of Python's own bytes-like types. They have only the buffer
// protocol, and looking for other protocols would cost an exception each time.
bool is_pythons_own(nb::handle object) {
  return PyBytes_CheckExact(object.ptr()) || PyByteArray_CheckExact(object.ptr()) ||
         PyMemoryView_Check(object.ptr());
}

// Returns the DLPack C exchange table of the object's type, or nullptr if it has none. The last
// table is cached by type: finding it by name takes as long as getting a tensor from it.
const dlpack::DLPackExchangeAPI *exchange_of(nb::handle object) {
  struct Known {
    nb::object type;
    const dlpack::DLPackExchangeAPI *api = nullptr;
  };
  static auto &last = *new Known;  // never freed: its destructor would run after the interpreter
                                   // has exited
  const nb::handle type = object.type();
  if (last.api != nullptr && last.type.is(type)) return last.api;
  const nb::object capsule = attribute_or_nothing(type, "__dlpack_c_exchange_api__");
  if (!capsule.is_valid() || !PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api"))
    return nullptr;
  const auto *const api = static_cast<const dlpack::DLPackExchangeAPI *>(
      PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (api->header.version.major != dlpack::kMajorVersion) return nullptr;
  last = {nb::borrow(type), api};
  return api;
}

// Reads an attribute, or calls the method of that name, and returns its truth value.
bool is_true(nb::handle object, const char *name, bool is_method) {
  const nb::object told = object.attr(name);
  return nb::cast<bool>(is_method ? told() : told);
}

// Returns whether the memory of a PyTorch tensor has the tensor's values, and no gradient is lost.
// DLPack does not report this. Tensors of integers and booleans cannot be conjugates or negatives,
// or require a gradient.
bool has_plain_values(nb::handle tensor, const dlpack::DLDataType &type) {
  if (type.code == dlpack::kDLInt || type.code == dlpack::kDLUInt || type.code == dlpack::kDLBool)
    return true;
  return !is_true(tensor, "requires_grad", false) && !is_true(tensor, "is_neg", true) &&
         (type.code != dlpack::kDLComplex || !is_true(tensor, "is_conj", true));
}

// Calls __dlpack_device__, which takes some microseconds for a PyTorch tensor.
ArrayDevice device_of(nb::handle object) {
  if (is_pythons_own(object)) return {};
  const nb::object method = attribute_or_nothing(object, "__dlpack_device__");
  if (!method.is_valid()) return {};
  const nb::object told = method();
  try {
    // The device type may be an enum, which is convertible to int.
    return {nb::cast<int>(nb::int_(told[0])), nb::cast<int>(nb::int_(told[1]))};
  } catch (const std::bad_cast &) {
    raise(PyExc_TypeError, "its __dlpack_device__ tells no device");
  }
}

}  // namespace

View::View(nb::handle object, bool writable, std::optional<uintptr_t> stream) {
  if (nb::isinstance<DeviceMemory>(object)) {
    const DeviceMemory &memory = nb::cast<const DeviceMemory &>(object);
    memory.check_there();
    data_ = memory.address();
    bytes_ = memory.bytes();
    shape_ = {static_cast<int64_t>(bytes_)};
    // A CUDA ordinal is used where there is one, so that a call can combine this memory with arrays
    // on the same GPU.
    const std::optional<int> ordinal = memory.cuda_ordinal();
    memory_space_ = ordinal ? MemorySpace::kCuda : MemorySpace::kDevice;
    ordinal_ = ordinal ? *ordinal : static_cast<int32_t>(memory.device());
    owner_ = nb::borrow(object);
    return;
  }
  try {
    if (!by_exchange(object) && !by_others(object, writable, stream)) {
      const nb::str type = nb::str(object.type().attr("__name__"));
      raise(PyExc_TypeError,
            std::string("a bytes-like object or an array is needed, not ") + type.c_str());
    }
    check(writable);
  } catch (...) {
    let_go();
    throw;
  }
}

nb::object View::of_plain(nb::handle object, bool writable, const ArrayTypes &types) {
  const nb::handle type = object.type();
  const bool is_tensor = type.is(types.torch) && exchange_of(object) != nullptr;
  if (!is_tensor && !type.is(types.numpy) && !is_pythons_own(object)) return {};
  nb::object made = nb::inst_alloc(nb::type<View>());
  View &view = *new (nb::inst_ptr<View>(made)) View();
  nb::inst_mark_ready(made);
  try {
    if (!is_tensor) {
      view.take_buffer(object, writable);
    } else if (!view.by_exchange(object) ||
               !has_plain_values(object, view.versioned_->dl_tensor.dtype)) {
      return {};
    }
    view.check(writable);
  } catch (nb::python_error &) {
    return {};
  }
  return made;
}

void View::check(bool writable) const {
  if (writable && is_read_only_) raise(PyExc_TypeError, "the output is read-only");
  // For example, a tensor whose storage was freed.
  if (data_ == nullptr && bytes_ != 0) raise(PyExc_BufferError, "the array has no memory");
}

std::unique_ptr<View> View::of_new_bytes(size_t bytes) {
  std::unique_ptr<View> view(new View);
  view->owner_ = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bytes)));
  if (!view->owner_.is_valid()) throw nb::python_error();
  view->data_ = reinterpret_cast<uint8_t *>(PyBytes_AsString(view->owner_.ptr()));
  view->bytes_ = bytes;
  view->shape_ = {static_cast<int64_t>(bytes)};
  return view;
}

std::unique_ptr<View> View::beside(const View &other, uintptr_t address, uint64_t bytes,
                                   nb::object owner) {
  std::unique_ptr<View> view(new View);
  view->data_ = reinterpret_cast<uint8_t *>(address);
  view->bytes_ = bytes;
  view->shape_ = {static_cast<int64_t>(bytes)};
  view->memory_space_ = other.memory_space_;
  view->ordinal_ = other.ordinal_;
  view->stream_ = other.stream_;
  view->owner_ = std::move(owner);
  return view;
}

View::~View() { let_go(); }

void View::check_range(uint64_t offset, uint64_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset)
    raise(PyExc_ValueError, "that reaches past the end of the memory");
}

void View::let_go() {
  if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
  if (versioned_ != nullptr && versioned_->deleter != nullptr) versioned_->deleter(versioned_);
  if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
  versioned_ = nullptr;
  managed_ = nullptr;
}

bool View::by_exchange(nb::handle object) {
  if (is_pythons_own(object)) return false;
  const dlpack::DLPackExchangeAPI *const api = exchange_of(object);
  if (api == nullptr) return false;
  if (api->managed_tensor_from_py_object_no_sync(object.ptr(), &versioned_) != 0)
    throw nb::python_error();
  is_read_only_ = (versioned_->flags & dlpack::kReadOnly) != 0;
  take(versioned_->dl_tensor);
  if (memory_space_ == MemorySpace::kCuda) {
    void *stream = nullptr;
    if (api->current_work_stream(dlpack::kDLCUDA, ordinal_, &stream) != 0) throw nb::python_error();
    stream_ = reinterpret_cast<uintptr_t>(stream);
  }
  owner_ = nb::borrow(object);
  return true;
}

bool View::by_others(nb::handle object, bool writable, std::optional<uintptr_t> stream) {
  const ArrayDevice device = device_of(object);
  return by_buffer(object, writable, device) || by_cuda_interface(object, device) ||
         by_dlpack(object, device, stream);
}

bool View::by_buffer(nb::handle object, bool writable, const ArrayDevice &device) {
  if (!PyObject_CheckBuffer(object.ptr())) return false;
  // The types of CuPy and JAX have the buffer protocol even for GPU memory, and then fail.
  if (device.type != 0 && device.type != dlpack::kDLCPU && device.type != dlpack::kDLCUDAHost)
    return false;
  take_buffer(object, writable);
  return true;
}

void View::take_buffer(nb::handle object, bool writable) {
  const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object.ptr(), &buffer_, flags) != 0) {
    buffer_.obj = nullptr;
    if (!writable) throw nb::python_error();
    PyErr_Clear();
    raise(PyExc_TypeError, "the output is read-only");
  }
  if (holds_objects(buffer_.format))
    raise(PyExc_TypeError, "an array of Python's objects has no bytes of its own");
  if (!PyBuffer_IsContiguous(&buffer_, 'C')) raise_not_packed();
  data_ = static_cast<uint8_t *>(buffer_.buf);
  bytes_ = static_cast<uint64_t>(buffer_.len);
  shape_.assign(buffer_.shape, buffer_.shape + buffer_.ndim);
}

bool View::by_cuda_interface(nb::handle object, const ArrayDevice &device) {
  const auto [type, ordinal] = device;
  if (type != 0 && type != dlpack::kDLCUDA && type != dlpack::kDLCUDAManaged) return false;
  // JAX's interface reports no stream, while its __dlpack__ makes the caller's stream wait.
  if (framework_of(object) == "jaxlib") return false;
  const nb::object told = attribute_or_nothing(object, "__cuda_array_interface__");
  if (!told.is_valid()) return false;
  shape_ = numbers_of(entry(told, "shape"), "shape");
  const nb::object typestr = entry(told, "typestr");
  if (!nb::isinstance<nb::str>(typestr)) raise_broken("typestr");
  const int64_t item = item_bytes_of(nb::cast<std::string>(typestr));
  if (const nb::object strides = entry(told, "strides", true); !strides.is_none()) {
    std::vector<int64_t> items = numbers_of(strides, "strides");
    if (items.size() != shape_.size()) raise_broken("strides");
    for (int64_t &stride : items) {
      if (stride % item != 0) raise_not_packed();
      stride /= item;
    }
    if (!is_packed(shape_, items.data())) raise_not_packed();
  }
  const nb::object data = entry(told, "data");
  if (!nb::isinstance<nb::tuple>(data) || nb::len(data) != 2) raise_broken("data");
  data_ = reinterpret_cast<uint8_t *>(PyLong_AsVoidPtr(nb::object(data[0]).ptr()));
  if (PyErr_Occurred()) throw nb::python_error();
  is_read_only_ = nb::object(data[1]).is(nb::handle(Py_True));
  bytes_ = items_of(shape_) * static_cast<uint64_t>(item);
  memory_space_ = MemorySpace::kCuda;
  // For arrays of Numba and buffers of RMM, only the address identifies the device.
  ordinal_ = type != 0 ? ordinal : cuda::ordinal_of(data_).value_or(0);
  if (const nb::object stream = entry(told, "stream", true); !stream.is_none())
    stream_ = reinterpret_cast<uintptr_t>(PyLong_AsVoidPtr(stream.ptr()));
  if (PyErr_Occurred()) throw nb::python_error();
  owner_ = nb::borrow(object);
  return true;
}

bool View::by_dlpack(nb::handle object, const ArrayDevice &device,
                     std::optional<uintptr_t> stream) {
  const nb::object method = attribute_or_nothing(object, "__dlpack__");
  if (!method.is_valid()) return false;
  nb::dict words;
  if (device.type == dlpack::kDLCUDA || device.type == dlpack::kDLCUDAManaged) {
    // In DLPack, 1 is the legacy default stream, and 0 is not allowed.
    stream_ = stream && *stream != 0 ? *stream : 1;
    words["stream"] = *stream_;
  }
  const auto ask = [&] {
    return nb::steal(PyObject_Call(method.ptr(), nb::tuple().ptr(), words.ptr()));
  };
  words["max_version"] = nb::make_tuple(dlpack::kMajorVersion, dlpack::kMinorVersion);
  nb::object capsule = ask();
  if (!capsule.is_valid() && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();  // a producer that is older than versioned tensors
    PyDict_DelItemString(words.ptr(), "max_version");
    capsule = ask();
  }
  if (!capsule.is_valid()) throw nb::python_error();
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    versioned_ = static_cast<dlpack::DLManagedTensorVersioned *>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    if (versioned_->version.major != dlpack::kMajorVersion)
      raise(PyExc_BufferError, "its __dlpack__ gives another version than 1");
    is_read_only_ = (versioned_->flags & dlpack::kReadOnly) != 0;
    take(versioned_->dl_tensor);
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    managed_ =
        static_cast<dlpack::DLManagedTensor *>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor");
    take(managed_->dl_tensor);
  } else {
    raise(PyExc_BufferError, "its __dlpack__ gives no DLPack capsule");
  }
  owner_ = nb::borrow(object);
  return true;
}

void View::take(const dlpack::DLTensor &tensor) {
  shape_.assign(tensor.shape, tensor.shape + tensor.ndim);
  if (!is_packed(shape_, tensor.strides)) raise_not_packed();
  bytes_ = (items_of(shape_) * tensor.dtype.bits * tensor.dtype.lanes + 7) / 8;
  data_ = static_cast<uint8_t *>(tensor.data) + tensor.byte_offset;
  switch (tensor.device.device_type) {
    case dlpack::kDLCPU:
    case dlpack::kDLCUDAHost:
      memory_space_ = MemorySpace::kHost;
      return;
    case dlpack::kDLCUDA:
    case dlpack::kDLCUDAManaged:
      memory_space_ = MemorySpace::kCuda;
      ordinal_ = tensor.device.device_id;
      return;
  }
  raise({LC_ERROR_UNSUPPORTED, "memory of DLPack's device type " +
                                   std::to_string(tensor.device.device_type) +
                                   " cannot be used: only that of the CPU and of CUDA"});
}

void bind_view(nb::module_ &module) {
  nb::class_<View>(module, "View")
      .def(nb::init<nb::handle, bool, std::optional<uintptr_t>>(), nb::arg("object").none(),
           nb::arg("writable") = false, nb::arg("stream") = nb::none())
      .def_static("of_new_bytes", &View::of_new_bytes, nb::arg("nbytes"))
      .def_static("beside", &View::beside, nb::arg("other"), nb::arg("address"), nb::arg("nbytes"),
                  nb::arg("owner"))
      .def_prop_ro("nbytes", &View::bytes)
      .def_prop_ro("shape", &View::shape)
      .def_prop_ro("on_host",
                   [](const View &view) { return view.memory_space() == MemorySpace::kHost; })
      .def_prop_ro("on_cuda",
                   [](const View &view) { return view.memory_space() == MemorySpace::kCuda; })
      .def_prop_ro("ordinal", &View::ordinal)
      .def_prop_ro("stream", &View::stream)
      .def_prop_ro("is_captured",
                   [](const View &view) {
                     return view.stream() ? cuda::is_captured(*view.stream()) : std::nullopt;
                   })
      .def_prop_ro("owner", &View::owner, nb::sig("def owner(self) -> typing.Any"));
  module.def(
      "plain_view",
      [](nb::handle object, bool writable, nb::handle numpy, nb::handle torch) {
        const nb::object made = View::of_plain(object, writable, {numpy, torch});
        return made.is_valid() ? made : nb::none();
      },
      nb::arg("object").none(), nb::arg("writable"), nb::arg("numpy").none(),
      nb::arg("torch").none(),
      nb::sig("def plain_view(object: object | None, writable: bool, numpy: object | None, torch: "
              "object | None) -> View | None"));
  module.def(
      "views",
      [](const nb::list &objects, bool writable, nb::handle numpy, nb::handle torch,
         const nb::callable &other_view) {
        nb::list views;
        for (size_t n = 0; n < objects.size(); ++n) {
          const nb::object object = objects[n];
          const nb::object made = View::of_plain(object, writable, {numpy, torch});
          views.append(made.is_valid() ? made : other_view(object, n));
        }
        return views;
      },
      nb::arg("objects"), nb::arg("writable"), nb::arg("numpy").none(), nb::arg("torch").none(),
      nb::arg("other_view"),
      nb::sig(
          "def views(objects: list[typing.Any], writable: bool, numpy: object | None, torch: "
          "object | None, other_view: typing.Callable[[typing.Any, int], View]) -> list[View]"));
  module.def(
      "zero",
      [](const View &view) {
        if (view.memory_space() != MemorySpace::kHost)
          raise(PyExc_ValueError, "it must lie in host memory");
        const nb::gil_scoped_release released;
        if (view.bytes() != 0) std::memset(view.data(), 0, view.bytes());
      },
      nb::arg("view"));
  module.def(
      "to_bytes",
      [](const View &view) {
        if (view.memory_space() != MemorySpace::kHost)
          raise(PyExc_ValueError, "it must lie in host memory");
        return nb::bytes(view.data(), view.bytes());
      },
      nb::arg("view"));
}

}  // namespace lanecrypt::python
