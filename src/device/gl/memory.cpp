// SPDX-License-Identifier: Apache-2.0
#include "device/gl/memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace lanecrypt::device::gl {
namespace {

Status no_room(const Session &session, uint64_t bytes) {
  return {LC_ERROR_MEMORY, session.properties.id + " has no room for a buffer of " +
                               std::to_string(bytes) + " bytes (at most " +
                               std::to_string(session.most_buffer_bytes) +
                               " bytes can be had at once)"};
}

constexpr GLbitfield kForever =
    GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT_EXT | GL_MAP_COHERENT_BIT_EXT;

class PinnedBuffer : public Buffer {
 public:
  // `offset` is the position of the memory in the buffer object, if there is one.
  PinnedBuffer(std::shared_ptr<Session> session, GLuint name, uint64_t offset, void *memory,
               uint64_t bytes)
      : Buffer(MemoryKind::kPinned, reinterpret_cast<uint64_t>(memory), bytes),
        session_(std::move(session)),
        name_(name) {
    std::lock_guard lock(session_->mutex);
    if (name_ != 0) session_->pinned[address()] = {bytes, name_, offset};
  }
  ~PinnedBuffer() override {
    if (name_ == 0) {
      free(host());
      return;
    }
    std::lock_guard lock(session_->mutex);
    session_->pinned.erase(address());
    session_->dead_buffers.push_back(name_);
  }

 private:
  std::shared_ptr<Session> session_;
  GLuint name_;  // 0: ordinary memory
};

}  // namespace

Result<std::shared_ptr<Allocation>> Allocation::make(Session &session, uint64_t bytes) {
  if (bytes == 0 || bytes > session.most_buffer_bytes) return no_room(session, bytes);
  std::shared_ptr<Allocation> allocation(new Allocation);
  void *range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED)
    return Status(LC_ERROR_MEMORY, "no address space is left for a device buffer of " +
                                       std::to_string(bytes) + " bytes");
  allocation->start_ = reinterpret_cast<uint64_t>(range);
  allocation->bytes_ = bytes;
  const Gl &gl = session.context->gl();
  gl.GenBuffers(1, &allocation->name_);
  gl.BindBuffer(GL_COPY_WRITE_BUFFER, allocation->name_);
  gl.BufferData(GL_COPY_WRITE_BUFFER, static_cast<GLsizeiptr>(allocation->object_bytes()), nullptr,
                GL_DYNAMIC_COPY);
  const Status status = session.check("glBufferData");
  if (status.ok()) return allocation;
  gl.DeleteBuffers(1, &allocation->name_);
  return status.code() == LC_ERROR_MEMORY ? no_room(session, bytes) : status;
}

Allocation::~Allocation() {
  if (start_ != 0) munmap(reinterpret_cast<void *>(start_), bytes_);
}

DeviceBuffer::DeviceBuffer(std::shared_ptr<Session> session, std::shared_ptr<Allocation> allocation,
                           uint64_t offset, uint64_t bytes)
    : Buffer(MemoryKind::kDevice, allocation->start() + offset, bytes),
      session_(std::move(session)),
      allocation_(std::move(allocation)),
      offset_(offset) {}

DeviceBuffer::~DeviceBuffer() {
  std::lock_guard lock(session_->mutex);
  // The last owner removes the addresses from the book before another allocation can get them.
  if (allocation_.use_count() == 1) {
    session_->allocations.erase(allocation_->start());
    session_->dead_buffers.push_back(allocation_->name());
  }
  allocation_.reset();
}

Result<std::unique_ptr<Buffer>> allocate_device(const std::shared_ptr<Session> &session,
                                                uint64_t bytes) {
  LC_TRY(session->enter());
  auto allocation = Allocation::make(*session, bytes);
  if (!allocation.ok()) return allocation.status();
  std::lock_guard lock(session->mutex);
  session->allocations[(*allocation)->start()] = *allocation;
  return std::unique_ptr<Buffer>(new DeviceBuffer(session, std::move(*allocation), 0, bytes));
}

Result<std::unique_ptr<Buffer>> allocate_pinned(const std::shared_ptr<Session> &session,
                                                uint64_t bytes) {
  LC_TRY(session->enter());
  const Gl &gl = session->context->gl();
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  // OpenGL takes sizes as signed integers.
  if (session->context->limits().can_map_forever && bytes <= INT64_MAX - page) {
    GLuint name = 0;
    gl.GenBuffers(1, &name);
    gl.BindBuffer(GL_COPY_WRITE_BUFFER, name);
    // Drivers align mapped memory to less than a page (NVIDIA to 512 bytes).
    const uint64_t mapped_bytes = bytes + page - 1;
    gl.BufferStorageEXT(GL_COPY_WRITE_BUFFER, static_cast<GLsizeiptr>(mapped_bytes), nullptr,
                        kForever | GL_CLIENT_STORAGE_BIT_EXT);
    void *mapped =
        gl.MapBufferRange(GL_COPY_WRITE_BUFFER, 0, static_cast<GLsizeiptr>(mapped_bytes), kForever);
    const Status status = session->check("glBufferStorage");
    if (status.ok() && mapped != nullptr) {
      const uint64_t offset = (page - reinterpret_cast<uint64_t>(mapped) % page) % page;
      return std::unique_ptr<Buffer>(
          new PinnedBuffer(session, name, offset, static_cast<uint8_t *>(mapped) + offset, bytes));
    }
    gl.DeleteBuffers(1, &name);
    if (status.code() == LC_ERROR_DEVICE) return status;
  }
  void *memory = nullptr;
  if (posix_memalign(&memory, page, bytes) != 0)
    return Status(LC_ERROR_MEMORY, "no memory for " + std::to_string(bytes) + " bytes");
  return std::unique_ptr<Buffer>(new PinnedBuffer(session, 0, 0, memory, bytes));
}

Result<std::unique_ptr<Buffer>> view_device(const std::shared_ptr<Session> &session,
                                            uint64_t address, uint64_t bytes) {
  const Status foreign(LC_ERROR_ARGUMENT,
                       "the address is not inside a buffer of " + session->properties.id);
  // The lock is held to the end: otherwise an allocation could lose its last owner here without the
  // book being updated.
  std::lock_guard lock(session->mutex);
  const auto after = session->allocations.upper_bound(address);
  if (after == session->allocations.begin()) return foreign;
  std::shared_ptr<Allocation> allocation = std::prev(after)->second.lock();
  if (allocation == nullptr) return foreign;
  const uint64_t offset = address - allocation->start();
  if (offset >= allocation->bytes()) return foreign;
  if (bytes > allocation->bytes() - offset)
    return Status(LC_ERROR_ARGUMENT,
                  std::to_string(bytes) + " bytes from the address run past the end of the buffer");
  return std::unique_ptr<Buffer>(new DeviceBuffer(session, std::move(allocation), offset, bytes));
}

Result<Spot> find_spot(const Session &session, const Buffer &buffer, uint64_t offset,
                       uint64_t bytes) {
  const auto *ours = dynamic_cast<const DeviceBuffer *>(&buffer);
  if (ours == nullptr || ours->session() != &session)
    return Status(LC_ERROR_ARGUMENT, "the buffer is not memory of " + session.properties.id);
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset)
    return Status(LC_ERROR_ARGUMENT, std::to_string(bytes) + " bytes at " + std::to_string(offset) +
                                         " run past a buffer of " + std::to_string(buffer.bytes()));
  return Spot{&ours->allocation(), ours->offset() + offset};
}

}  // namespace lanecrypt::device::gl
