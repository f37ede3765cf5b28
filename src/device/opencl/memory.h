// Buffers of an OpenCL device. A cl_mem has no address, so each device buffer reserves a range of
// the process's address space that is never accessed. Its addresses are unique, can be offset, and
// identify the cl_mem and the offset in it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/opencl/session.h"

namespace lanecrypt::device::opencl {

// A cl_mem and its range of addresses.
class Allocation {
 public:
  static Result<std::shared_ptr<Allocation>> make(Session &session, uint64_t bytes);
  ~Allocation();
  Allocation(const Allocation &) = delete;
  Allocation &operator=(const Allocation &) = delete;

  cl_mem memory() const { return memory_.get(); }
  uint64_t start() const { return start_; }
  uint64_t bytes() const { return bytes_; }

 private:
  Allocation() = default;
  MemoryHandle memory_;
  uint64_t start_ = 0, bytes_ = 0;
};

// A whole allocation, or a view of a part of it; both keep it alive.
class DeviceBuffer : public Buffer {
 public:
  DeviceBuffer(std::shared_ptr<Session> session, std::shared_ptr<Allocation> allocation,
               uint64_t offset, uint64_t bytes);
  ~DeviceBuffer() override;

  const Session *session() const { return session_.get(); }
  cl_mem memory() const { return allocation_->memory(); }
  // Returns the offset of this buffer in memory().
  uint64_t offset() const { return offset_; }
  // Returns a cl_mem that begins where this buffer begins, for a kernel's parameter. Fails with
  // LC_ERROR_UNSUPPORTED for a view at an offset that the device does not allow.
  Result<cl_mem> argument() const;

 private:
  std::shared_ptr<Session> session_;
  std::shared_ptr<Allocation> allocation_;
  uint64_t offset_;
  mutable MemoryHandle part_;  // a sub-buffer, for a view at an offset
};

Result<std::unique_ptr<Buffer>> allocate_device(const std::shared_ptr<Session> &session,
                                                uint64_t bytes);
Result<std::unique_ptr<Buffer>> allocate_pinned(const std::shared_ptr<Session> &session,
                                                uint64_t bytes);
Result<std::unique_ptr<Buffer>> view_device(const std::shared_ptr<Session> &session,
                                            uint64_t address, uint64_t bytes);

}  // namespace lanecrypt::device::opencl
