// Buffers of an OpenGL device. A buffer object has no address, so each reserves a range of the
// process's address space that is never accessed. Its addresses are unique, can be offset, and
// identify the object and the offset in it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/gl/session.h"
#include "job/round_up.h"

namespace lanecrypt::device::gl {

// A buffer object and its range of addresses.
class Allocation {
 public:
  static Result<std::shared_ptr<Allocation>> make(Session &session, uint64_t bytes);
  ~Allocation();
  Allocation(const Allocation &) = delete;

  GLuint name() const { return name_; }
  uint64_t start() const { return start_; }
  uint64_t bytes() const { return bytes_; }
  // Returns the size of the object: whole blocks, so that shaders may read to the end of a block.
  uint64_t object_bytes() const { return round_up(bytes_, 16); }

 private:
  Allocation() = default;
  GLuint name_ = 0;
  uint64_t start_ = 0, bytes_ = 0;
};

// A whole allocation, or a view of a part of it; both keep it alive.
class DeviceBuffer : public Buffer {
 public:
  DeviceBuffer(std::shared_ptr<Session> session, std::shared_ptr<Allocation> allocation,
               uint64_t offset, uint64_t bytes);
  ~DeviceBuffer() override;

  const Session *session() const { return session_.get(); }
  Allocation &allocation() const { return *allocation_; }
  // Returns the offset of this buffer in its allocation.
  uint64_t offset() const { return offset_; }

 private:
  std::shared_ptr<Session> session_;
  std::shared_ptr<Allocation> allocation_;
  uint64_t offset_;
};

Result<std::unique_ptr<Buffer>> allocate_device(const std::shared_ptr<Session> &session,
                                                uint64_t bytes);
// Allocates memory that is mapped for its whole lifetime, if the driver supports that. Otherwise it
// is ordinary memory, which the driver copies.
Result<std::unique_ptr<Buffer>> allocate_pinned(const std::shared_ptr<Session> &session,
                                                uint64_t bytes);
Result<std::unique_ptr<Buffer>> view_device(const std::shared_ptr<Session> &session,
                                            uint64_t address, uint64_t bytes);

// A position inside an allocation of `session`, checked against the buffer's end.
struct Spot {
  Allocation *allocation;
  uint64_t offset;
};
Result<Spot> find_spot(const Session &session, const Buffer &buffer, uint64_t offset,
                       uint64_t bytes);

}  // namespace lanecrypt::device::gl
