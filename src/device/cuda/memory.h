// Memory of a CUDA device, and memory of the host that is pinned.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/cuda/driver.h"
#include "device/device.h"

namespace lanecrypt::device::cuda {

class CudaBuffer : public Buffer {
 public:
  // `owned` is what the driver gave, 0 for a view.
  CudaBuffer(const Driver &driver, MemoryKind kind, uint64_t address, uint64_t bytes,
             uint64_t owned)
      : Buffer(kind, address, bytes), driver_(driver), owned_(owned) {}
  // Failures are ignored: at exit the driver may be gone before us.
  ~CudaBuffer() override {
    if (owned_ == 0) return;
    if (kind() == MemoryKind::kDevice)
      (void)driver_.memory_free(owned_);
    else
      (void)driver_.host_free(reinterpret_cast<void *>(owned_));
  }

 private:
  const Driver &driver_;
  uint64_t owned_;
};

// Pins pages of the caller's. They go on a thread that is attached to the device.
Result<std::unique_ptr<Buffer>> pin_pages(const Driver &driver, void *start, uint64_t bytes);

// Whether all of it is in one allocation of pinned memory, and none of it was pinned by
// pin_pages(), which lasts as long as a job.
bool program_has_pinned(const Driver &driver, const void *start, uint64_t bytes);

}  // namespace lanecrypt::device::cuda
