// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/opencl_device.h"

#include <algorithm>

#include "device/open_once.h"
#include "device/opencl/memory.h"
#include "device/opencl/signal_handlers.h"
#include "device/opencl/stream.h"

namespace lanecrypt::device::opencl {
namespace {

Result<std::shared_ptr<ContextHandle>> context_of(cl_platform_id platform, cl_device_id device) {
  static constinit OpenOnce<cl_device_id, ContextHandle> all;
  return all.get(device, [&]() -> Result<std::shared_ptr<ContextHandle>> {
    const cl_context_properties wanted[] = {CL_CONTEXT_PLATFORM,
                                            reinterpret_cast<cl_context_properties>(platform), 0};
    cl_int code = CL_SUCCESS;
    auto context = std::make_shared<ContextHandle>(
        cl().clCreateContext(wanted, 1, &device, nullptr, nullptr, &code));
    LC_TRY(check("clCreateContext", code));
    return context;
  });
}

Result<std::shared_ptr<AllocationBook>> book_of(cl_device_id device) {
  static constinit OpenOnce<cl_device_id, AllocationBook> all;
  return all.get(device, []() -> Result<std::shared_ptr<AllocationBook>> {
    return std::make_shared<AllocationBook>();
  });
}

Result<QueueHandle> make_queue(const Session &session) {
  cl_int code = CL_SUCCESS;
  QueueHandle queue(cl().clCreateCommandQueue(session.context->get(), session.device,
                                              CL_QUEUE_PROFILING_ENABLE, &code));
  LC_TRY(check("clCreateCommandQueue", code));
  return queue;
}

}  // namespace

Result<std::unique_ptr<Device>> OpenClDevice::open(cl_platform_id platform, cl_device_id device,
                                                   Properties properties,
                                                   const ProgramSource &source) {
  if (!properties.unusable.empty()) return Status(LC_ERROR_NO_DEVICE, properties.unusable);
  if (!survived_fork()) return Status(LC_ERROR_NO_DEVICE, kUsedByParent);
  const KeptSignalHandlers kept;
  auto session = std::make_shared<Session>();
  session->residency = residency(device, properties);
  session->properties = std::move(properties);
  session->platform = platform;
  session->device = device;
  const uint64_t alignment_bits = device_number(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN);
  session->alignment_bytes = std::max<uint64_t>(alignment_bits / 8, 1);
  session->most_buffer_bytes = device_number(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);

  Result<std::shared_ptr<ContextHandle>> context = context_of(platform, device);
  if (!context.ok()) return context.status();
  session->context = std::move(*context);
  Result<std::shared_ptr<AllocationBook>> book = book_of(device);
  if (!book.ok()) return book.status();
  session->book = std::move(*book);
  auto queue = make_queue(*session);
  if (!queue.ok()) return queue.status();
  session->memory_queue = std::move(*queue);
  for (const ProgramPart &part : source) session->programs.push_back({part, {}});
  LC_TRY(build_program(*session, session->programs.back()));
  return std::unique_ptr<Device>(new OpenClDevice(std::move(session)));
}

Result<std::unique_ptr<Buffer>> OpenClDevice::allocate(MemoryKind kind, uint64_t bytes) {
  if (bytes == 0) return Status(LC_ERROR_ARGUMENT, "a buffer of no bytes was asked for");
  return kind == MemoryKind::kPinned ? allocate_pinned(session_, bytes)
                                     : allocate_device(session_, bytes);
}

Result<std::unique_ptr<Buffer>> OpenClDevice::view(uint64_t address, uint64_t bytes) {
  return view_device(session_, address, bytes);
}

Result<std::unique_ptr<Stream>> OpenClDevice::make_stream() {
  auto queue = make_queue(*session_);
  if (!queue.ok()) return queue.status();
  return std::unique_ptr<Stream>(new QueueStream(session_, std::move(*queue)));
}

Result<std::unique_ptr<Stream>> OpenClDevice::adopt_stream(void *handle) {
  auto *queue = static_cast<cl_command_queue>(handle);
  if (queue == nullptr) return Status(LC_ERROR_ARGUMENT, "the command queue is null");
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  cl_command_queue_properties order = 0;
  LC_CL(clGetCommandQueueInfo, queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr);
  LC_CL(clGetCommandQueueInfo, queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
  LC_CL(clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES, sizeof order, &order, nullptr);
  if (context != session_->context->get() || device != session_->device) {
    return Status(LC_ERROR_UNSUPPORTED,
                  "the command queue is of another OpenCL context than Lanecrypt's own");
  }
  if ((order & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
    return Status(LC_ERROR_UNSUPPORTED, "the command queue runs out of order");
  }
  LC_CL(clRetainCommandQueue, queue);
  return std::unique_ptr<Stream>(new QueueStream(session_, QueueHandle(queue)));
}

Result<std::unique_ptr<Event>> OpenClDevice::make_event() {
  return std::unique_ptr<Event>(new MarkedEvent);
}

uint32_t OpenClDevice::resident_thread_blocks(const char *kernel, uint32_t thread_block_size,
                                              uint32_t shared_bytes) {
  return thread_blocks_at_once(session_->residency, session_->properties.compute_units,
                               thread_block_size, shared_bytes, thread_registers(kernel));
}

}  // namespace lanecrypt::device::opencl
