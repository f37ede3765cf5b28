// The memory of a Python object: its address, its device, and the stream that orders its work.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dlpack.h"
#include "errors.h"

namespace lanecrypt::python {

// numpy.ndarray and torch.Tensor; None if the program has not loaded the framework.
struct ArrayTypes {
  nb::handle numpy, torch;
};

// The device that an array reports, with DLPack's numbers. Type 0 means that it reports none.
struct ArrayDevice {
  int type = 0, ordinal = 0;
};

enum class MemorySpace {
  kHost,   // host memory, pinned or not
  kCuda,   // memory of the CUDA device `ordinal`
  kDevice  // memory from lc_alloc_device() on the context's device `ordinal`, which is not a CUDA
           // device
};

// A view of the contiguous bytes of one object, which must not change meanwhile. All functions need
// the GIL.
class View {
 public:
  // Tries, in this order: DLPack's C exchange API, the buffer protocol, __cuda_array_interface__,
  // and __dlpack__. Throws if the object has none of these, is not contiguous in C order, or is
  // read-only but `writable` is set. `stream` is the caller's, for producers that make it wait for
  // their work.
  View(nb::handle object, bool writable, std::optional<uintptr_t> stream);
  // Makes a view of bytes, a bytearray, a memoryview, or an array whose exact type is one of
  // `types`. Calls with many messages make most views this way, without Python code for each.
  // Returns nothing for any other object, if the object must be refused, or if the buffer protocol
  // cannot describe its items: _arrays.py then makes the view or raises the error.
  static nb::object of_plain(nb::handle object, bool writable, const ArrayTypes &types);
  // Makes a new, uninitialised bytes object. No other code may have it until it is filled.
  static std::unique_ptr<View> of_new_bytes(size_t bytes);
  // Makes a view of `bytes` contiguous, writable bytes of `owner` at `address`. They must be on the
  // device and in the stream of `other`.
  static std::unique_ptr<View> beside(const View &other, uintptr_t address, uint64_t bytes,
                                      nb::object owner);
  ~View();
  View(const View &) = delete;

  uint8_t *data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  MemorySpace memory_space() const { return memory_space_; }
  int32_t ordinal() const { return ordinal_; }
  const std::vector<int64_t> &shape() const { return shape_; }
  // The current stream of the object's framework, if it reported one. 0 is CUDA's legacy default
  // stream here.
  std::optional<uintptr_t> stream() const { return stream_; }
  nb::object owner() const { return owner_; }
  // Throws if the range extends past the end.
  void check_range(uint64_t offset, uint64_t bytes) const;

 private:
  View() = default;
  bool by_exchange(nb::handle object);
  bool by_others(nb::handle object, bool writable, std::optional<uintptr_t> stream);
  bool by_buffer(nb::handle object, bool writable, const ArrayDevice &device);
  void take_buffer(nb::handle object, bool writable);
  bool by_cuda_interface(nb::handle object, const ArrayDevice &device);
  bool by_dlpack(nb::handle object, const ArrayDevice &device, std::optional<uintptr_t> stream);
  void take(const dlpack::DLTensor &tensor);
  void check(bool writable) const;
  void let_go();

  uint8_t *data_ = nullptr;
  uint64_t bytes_ = 0;
  MemorySpace memory_space_ = MemorySpace::kHost;
  int32_t ordinal_ = 0;
  bool is_read_only_ = false;
  std::vector<int64_t> shape_;
  std::optional<uintptr_t> stream_;

  // The objects that keep the memory alive.
  nb::object owner_;
  Py_buffer buffer_ = {};
  dlpack::DLManagedTensorVersioned *versioned_ = nullptr;
  dlpack::DLManagedTensor *managed_ = nullptr;
};

void bind_view(nb::module_ &module);

}  // namespace lanecrypt::python
