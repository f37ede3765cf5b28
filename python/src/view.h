// What an object of Python's is as memory: where its bytes lie, and in which order of work.
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

// ArrayTypes are numpy.ndarray and torch.Tensor; None if the program has not loaded the framework.
struct ArrayTypes {
  nb::handle numpy, torch;
};

// ArrayDevice is where an array says that it lies, by DLPack's numbers. Type 0: it does not say.
struct ArrayDevice {
  int type = 0, ordinal = 0;
};

enum class Room {
  kHost,   // memory of the process, pinned or not
  kCuda,   // of CUDA's device `ordinal`
  kDevice  // of lc_alloc_device() on the context's device `ordinal`, which is none of CUDA's
};

// The packed bytes of one object, which stays as it is meanwhile. For threads that hold the GIL.
class View {
 public:
  // Asks the object by, in this order: DLPack's C exchange, the buffer protocol,
  // __cuda_array_interface__, __dlpack__. Throws where it has none, is not packed in C's order,
  // or is to be written and is read-only. `stream`: the caller's, for producers that make their
  // work come before it.
  View(nb::handle object, bool writable, std::optional<uintptr_t> stream);
  // Makes a view of bytes, a bytearray, a memoryview, or an array whose type is one of `types` and
  // not derived from it. Calls of many messages make most views so, without Python code for each.
  // Returns nothing if the object is another, if it must be refused, or if its items are such as
  // the buffer protocol does not describe: then _arrays.py makes the view, or says what is wrong.
  static nb::object of_plain(nb::handle object, bool writable, const ArrayTypes &types);
  // A new bytes object, still to be filled. Nobody else may have it before.
  static std::unique_ptr<View> of_new_bytes(size_t bytes);
  // Packed, writable bytes of `owner`, which lie on the device of `other` and are in its order.
  static std::unique_ptr<View> beside(const View &other, uintptr_t address, uint64_t bytes,
                                      nb::object owner);
  ~View();
  View(const View &) = delete;

  uint8_t *data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  Room room() const { return room_; }
  int32_t ordinal() const { return ordinal_; }
  const std::vector<int64_t> &shape() const { return shape_; }
  // Where the object's producer works now, if it told. 0 is CUDA's legacy default stream here.
  std::optional<uintptr_t> stream() const { return stream_; }
  nb::object owner() const { return owner_; }
  // Throws where that reaches past the end.
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
  Room room_ = Room::kHost;
  int32_t ordinal_ = 0;
  bool is_read_only_ = false;
  std::vector<int64_t> shape_;
  std::optional<uintptr_t> stream_;

  // What keeps the memory.
  nb::object owner_;
  Py_buffer buffer_ = {};
  dlpack::DLManagedTensorVersioned *versioned_ = nullptr;
  dlpack::DLManagedTensor *managed_ = nullptr;
};

void bind_view(nb::module_ &module);

}  // namespace lanecrypt::python
