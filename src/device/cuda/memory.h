// Memory of a CUDA device, and pinned memory of the host.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/cuda/driver.h"
#include "device/device.h"

namespace lanecrypt::device::cuda {

class CudaBuffer : public Buffer {
 public:
  // `owned` is the address that the driver returned, or 0 for a view.
  CudaBuffer(const Driver &driver, MemoryKind kind, uint64_t address, uint64_t bytes,
             uint64_t owned)
      : Buffer(kind, address, bytes), driver_(driver), owned_(owned) {}
  // Failures are ignored: at exit the driver may be unloaded already.
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

// Pins pages of the caller. The buffer must be destroyed on a thread that is attached to the
// device.
Result<std::unique_ptr<Buffer>> pin_pages(const Driver &driver, void *start, uint64_t bytes);

// Whether all of the range is in one allocation of pinned memory, and none of it was pinned by
// pin_pages(), which lasts only as long as a job.
bool program_has_pinned(const Driver &driver, const void *start, uint64_t bytes);

}  // namespace lanecrypt::device::cuda
