// SPDX-License-Identifier: Apache-2.0
#include "data_location.h"

namespace lanecrypt::python {

namespace {

[[noreturn]] void raise_apart() {
  raise(PyExc_ValueError, "the input and the output do not all lie on one device");
}

}  // namespace

bool DataLocation::is_here(const View &view) const {
  return memory_space_ == view.memory_space() &&
         (memory_space_ == MemorySpace::kHost || ordinal_ == view.ordinal());
}

void DataLocation::add(const View &view) {
  if (!is_known_) {
    is_known_ = true;
    memory_space_ = view.memory_space();
    ordinal_ = view.ordinal();
  } else if (!is_here(view)) {
    raise_apart();
  }
  if (!framework_stream_) framework_stream_ = view.stream();
}

void DataLocation::add_further(const View &view, const std::string &what) {
  if (!is_here(view)) raise(PyExc_ValueError, what + " must lie on the device of the data");
  add(view);
}

void DataLocation::add_output(const View &view) {
  const bool brings = !is_host() && view.memory_space() == MemorySpace::kHost;
  if (brings_to_host_.value_or(brings) != brings) raise_apart();
  brings_to_host_ = brings;
  if (!brings) add(view);
}

uint32_t DataLocation::device(Context &context) const {
  return memory_space_ == MemorySpace::kCuda ? context.index_of("cuda:" + std::to_string(ordinal_))
                                             : static_cast<uint32_t>(ordinal_);
}

void *DataLocation::stream() const {
  if (given_stream_ && memory_space_ != MemorySpace::kCuda)
    raise(PyExc_ValueError, "a stream goes with memory of a CUDA device only");
  if (is_host()) return nullptr;
  const std::optional<uintptr_t> stream = given_stream_ ? given_stream_ : framework_stream_;
  if (!stream) return nullptr;  // the contents of the memory are ready
  return *stream == 0 ? LC_STREAM_LEGACY : reinterpret_cast<void *>(*stream);
}

}  // namespace lanecrypt::python
