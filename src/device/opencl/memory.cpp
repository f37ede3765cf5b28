// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <iterator>

#include "job/round_up.h"

namespace lanecrypt::device::opencl {
namespace {

Status no_room(const Session &session, uint64_t bytes) {
  return {LC_ERROR_MEMORY, session.properties.id + " has no room for a buffer of " +
                               std::to_string(bytes) + " bytes (at most " +
                               std::to_string(session.most_buffer_bytes) +
                               " bytes can be had at once)"};
}

uint64_t page_bytes() {
  static const uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Pinned host memory: allocated by the driver, and mapped for its whole lifetime.
class PinnedBuffer : public Buffer {
 public:
  PinnedBuffer(std::shared_ptr<Session> session, MemoryHandle memory, void *mapped,
               uint64_t address, uint64_t bytes)
      : Buffer(MemoryKind::kPinned, address, bytes),
        session_(std::move(session)),
        memory_(std::move(memory)),
        mapped_(mapped) {}
  ~PinnedBuffer() override {
    const cl_command_queue queue = session_->memory_queue.get();
    cl().clEnqueueUnmapMemObject(queue, memory_.get(), mapped_, 0, nullptr, nullptr);
    cl().clFinish(queue);
  }

 private:
  std::shared_ptr<Session> session_;
  MemoryHandle memory_;
  void *mapped_;
};

}  // namespace

Result<std::shared_ptr<Allocation>> Allocation::make(Session &session, uint64_t bytes) {
  // Checked here, since drivers check late, and some round a size up past zero.
  if (bytes > session.most_buffer_bytes) return no_room(session, bytes);
  std::shared_ptr<Allocation> allocation(new Allocation);
  void *range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    return Status(LC_ERROR_MEMORY, "no address space is left for a device buffer of " +
                                       std::to_string(bytes) + " bytes");
  }
  allocation->start_ = reinterpret_cast<uint64_t>(range);
  allocation->bytes_ = bytes;

  cl_int code = CL_SUCCESS;
  *allocation->memory_.receive() =
      cl().clCreateBuffer(session.context->get(), CL_MEM_READ_WRITE, bytes, nullptr, &code);
  if (code != CL_SUCCESS) {
    const Status status = check("clCreateBuffer", code);
    return status.code() == LC_ERROR_MEMORY ? no_room(session, bytes) : status;
  }
  // Drivers allocate at the first use. The buffer is used now, so that a lack of memory appears
  // here and not as the failure of a later launch.
  const uint8_t nothing = 0;
  code = cl().clEnqueueWriteBuffer(session.memory_queue.get(), allocation->memory(), CL_TRUE,
                                   bytes - 1, 1, &nothing, 0, nullptr, nullptr);
  if (code == CL_OUT_OF_RESOURCES) return no_room(session, bytes);
  if (code != CL_SUCCESS) {
    const Status status = check("clEnqueueWriteBuffer", code);
    return status.code() == LC_ERROR_MEMORY ? no_room(session, bytes) : status;
  }
  return allocation;
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
  std::lock_guard lock(session_->book->mutex);
  part_ = MemoryHandle();
  // The last owner removes the addresses from the book before another allocation can get them.
  if (allocation_.use_count() == 1) session_->book->allocations.erase(allocation_->start());
  allocation_.reset();
}

Result<cl_mem> DeviceBuffer::argument() const {
  if (offset_ == 0) return allocation_->memory();
  if (part_) return part_.get();
  if (offset_ % session_->alignment_bytes != 0) {
    return Status(LC_ERROR_UNSUPPORTED,
                  session_->properties.id +
                      " takes memory as a kernel's argument only at multiples of " +
                      std::to_string(session_->alignment_bytes) + " bytes, not at " +
                      std::to_string(offset_));
  }
  const cl_buffer_region region = {offset_, bytes()};
  cl_int code = CL_SUCCESS;
  MemoryHandle part(cl().clCreateSubBuffer(allocation_->memory(), CL_MEM_READ_WRITE,
                                           CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  LC_TRY(check("clCreateSubBuffer", code));
  part_ = std::move(part);
  return part_.get();
}

Result<std::unique_ptr<Buffer>> allocate_device(const std::shared_ptr<Session> &session,
                                                uint64_t bytes) {
  auto allocation = Allocation::make(*session, bytes);
  if (!allocation.ok()) return allocation.status();
  {
    std::lock_guard lock(session->book->mutex);
    session->book->allocations[(*allocation)->start()] = *allocation;
  }
  return std::unique_ptr<Buffer>(new DeviceBuffer(session, std::move(*allocation), 0, bytes));
}

Result<std::unique_ptr<Buffer>> allocate_pinned(const std::shared_ptr<Session> &session,
                                                uint64_t bytes) {
  // One page more than requested, since drivers align only as the device's types require.
  const uint64_t page = page_bytes();
  // Some drivers round a size up past zero.
  if (bytes > INT64_MAX) return no_room(*session, bytes);
  cl_int code = CL_SUCCESS;
  MemoryHandle memory(cl().clCreateBuffer(session->context->get(),
                                          CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes + page,
                                          nullptr, &code));
  LC_TRY(check("clCreateBuffer", code));
  void *mapped = cl().clEnqueueMapBuffer(session->memory_queue.get(), memory.get(), CL_TRUE,
                                         CL_MAP_READ | CL_MAP_WRITE, 0, bytes + page, 0, nullptr,
                                         nullptr, &code);
  if (code == CL_MAP_FAILURE || code == CL_OUT_OF_RESOURCES) {
    return Status(LC_ERROR_MEMORY, session->properties.id + " cannot pin " + std::to_string(bytes) +
                                       " bytes of host memory");
  }
  LC_TRY(check("clEnqueueMapBuffer", code));
  const uint64_t start = round_up(reinterpret_cast<uint64_t>(mapped), page);
  return std::unique_ptr<Buffer>(
      new PinnedBuffer(session, std::move(memory), mapped, start, bytes));
}

Result<std::unique_ptr<Buffer>> view_device(const std::shared_ptr<Session> &session,
                                            uint64_t address, uint64_t bytes) {
  const Status foreign(LC_ERROR_ARGUMENT,
                       "the address is not inside a buffer of " + session->properties.id);
  // The lock is held to the end: otherwise an allocation could lose its last owner here without the
  // book being updated.
  std::lock_guard lock(session->book->mutex);
  const auto after = session->book->allocations.upper_bound(address);
  if (after == session->book->allocations.begin()) return foreign;
  std::shared_ptr<Allocation> allocation = std::prev(after)->second.lock();
  if (allocation == nullptr) return foreign;
  const uint64_t offset = address - allocation->start();
  if (offset >= allocation->bytes()) return foreign;
  if (bytes > allocation->bytes() - offset) {
    return Status(LC_ERROR_ARGUMENT,
                  std::to_string(bytes) + " bytes from the address run past the end of the buffer");
  }
  return std::unique_ptr<Buffer>(new DeviceBuffer(session, std::move(allocation), offset, bytes));
}

}  // namespace lanecrypt::device::opencl
