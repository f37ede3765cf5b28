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
  // The C exchange told that items are integers or truth values.
  bool is_of_integers() const { return is_of_integers_; }
  // Throws where that reaches past the end.
  void check_range(uint64_t offset, uint64_t bytes) const;

 private:
  View() = default;
  bool by_exchange(nb::handle object);
  bool by_others(nb::handle object, bool writable, std::optional<uintptr_t> stream);
  bool by_buffer(nb::handle object, bool writable, const ArrayDevice &device);
  bool by_cuda_interface(nb::handle object, const ArrayDevice &device);
  bool by_dlpack(nb::handle object, const ArrayDevice &device, std::optional<uintptr_t> stream);
  void take(const dlpack::DLTensor &tensor);
  void let_go();

  uint8_t *data_ = nullptr;
  uint64_t bytes_ = 0;
  Room room_ = Room::kHost;
  int32_t ordinal_ = 0;
  bool is_read_only_ = false, is_of_integers_ = false;
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
