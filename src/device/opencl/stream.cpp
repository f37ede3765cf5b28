// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/stream.h"

#include "device/opencl/memory.h"

namespace lanecrypt::device::opencl {
namespace {

// Returns CL_COMPLETE, a negative error, or the positive state of a command in progress.
cl_int execution_status(cl_event event) {
  cl_int status = CL_COMPLETE;
  const cl_int code = cl().clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                          &status, nullptr);
  return code == CL_SUCCESS ? status : code;
}

uint64_t end_time(cl_event event) {
  cl_ulong time = 0;
  if (event == nullptr) return 0;
  const cl_int code =
      cl().clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr);
  return code == CL_SUCCESS ? time : 0;
}

Status command_failed(cl_int code) { return check("a command on the device", code); }

}  // namespace

EventHandle share(const EventHandle &event) {
  if (event) cl().clRetainEvent(event.get());
  return EventHandle(event.get());
}

// ---- Events ----------------------------------------------------------------

void MarkedEvent::record(EventHandle marker, std::vector<EventHandle> commands, cl_int failure) {
  marker_ = std::move(marker);
  commands_ = std::move(commands);
  last_command_ = commands_.empty() ? EventHandle() : share(commands_.back());
  failure_ = failure;
}

Status MarkedEvent::wait() {
  if (!marker_) return {};
  const cl_event marker = marker_.get();
  const cl_int code = cl().clWaitForEvents(1, &marker);
  for (const EventHandle &command : commands_) {
    const cl_int status = execution_status(command.get());
    if (status < 0 && failure_ == CL_SUCCESS) failure_ = status;
  }
  commands_.clear();
  if (failure_ != CL_SUCCESS) return command_failed(failure_);
  return check("clWaitForEvents", code);
}

bool MarkedEvent::reached() {
  // A negative status is also final.
  return !marker_ || execution_status(marker_.get()) <= CL_COMPLETE;
}

uint64_t MarkedEvent::time() const {
  if (const uint64_t time = end_time(marker_.get()); time != 0) return time;
  return end_time(last_command_.get());
}

uint64_t MarkedEvent::nanoseconds_since(Event &earlier) {
  const auto *start = dynamic_cast<MarkedEvent *>(&earlier);
  if (start == nullptr) return 0;
  const uint64_t from = start->time(), to = time();
  return from != 0 && to > from ? to - from : 0;
}

// ---- Streams ---------------------------------------------------------------

QueueStream::~QueueStream() {
  // A command may name host memory that the caller frees once this returns.
  cl().clFinish(queue_.get());
}

Result<QueueStream::DeviceAddress> QueueStream::resolve(const Buffer &buffer, uint64_t offset,
                                                        uint64_t bytes) const {
  const auto *ours = dynamic_cast<const DeviceBuffer *>(&buffer);
  if (ours == nullptr || ours->session() != session_.get()) {
    return Status(LC_ERROR_ARGUMENT, "the buffer is not memory of " + session_->properties.id);
  }
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset) {
    return Status(LC_ERROR_ARGUMENT, std::to_string(bytes) + " bytes at " + std::to_string(offset) +
                                         " run past a buffer of " + std::to_string(buffer.bytes()));
  }
  return DeviceAddress{ours->memory(), ours->offset() + offset};
}

void QueueStream::settle() {
  std::erase_if(commands_, [this](const EventHandle &command) {
    const cl_int status = execution_status(command.get());
    if (status < 0 && failure_ == CL_SUCCESS) failure_ = status;
    return status <= CL_COMPLETE;
  });
}

Status QueueStream::submitted(EventHandle command) {
  constexpr size_t kManyCommands = 64;
  if (commands_.size() >= kManyCommands) settle();
  commands_.push_back(std::move(command));
  LC_CL(clFlush, queue_.get());
  return {};
}

Status QueueStream::upload(const Buffer &to, uint64_t offset, const void *from, uint64_t bytes) {
  auto at = resolve(to, offset, bytes);
  if (!at.ok()) return at.status();
  if (bytes == 0) return {};
  EventHandle command;
  LC_CL(clEnqueueWriteBuffer, queue_.get(), at->memory, CL_FALSE, at->offset, bytes, from, 0,
        nullptr, command.receive());
  return submitted(std::move(command));
}

Status QueueStream::download(void *to, const Buffer &from, uint64_t offset, uint64_t bytes) {
  auto at = resolve(from, offset, bytes);
  if (!at.ok()) return at.status();
  if (bytes == 0) return {};
  EventHandle command;
  LC_CL(clEnqueueReadBuffer, queue_.get(), at->memory, CL_FALSE, at->offset, bytes, to, 0, nullptr,
        command.receive());
  return submitted(std::move(command));
}

Status QueueStream::copy(const Buffer &to, uint64_t to_offset, const Buffer &from,
                         uint64_t from_offset, uint64_t bytes) {
  auto target = resolve(to, to_offset, bytes);
  if (!target.ok()) return target.status();
  auto source = resolve(from, from_offset, bytes);
  if (!source.ok()) return source.status();
  if (bytes == 0) return {};
  EventHandle command;
  LC_CL(clEnqueueCopyBuffer, queue_.get(), source->memory, target->memory, source->offset,
        target->offset, bytes, 0, nullptr, command.receive());
  return submitted(std::move(command));
}

Status QueueStream::zero(const Buffer &buffer, uint64_t offset, uint64_t bytes) {
  auto at = resolve(buffer, offset, bytes);
  if (!at.ok()) return at.status();
  if (bytes == 0) return {};
  // Drivers fill by the pattern: a wide pattern is many times faster.
  const uint64_t pattern[2] = {0, 0};
  const bool wide = (at->offset | bytes) % sizeof pattern == 0;
  EventHandle command;
  LC_CL(clEnqueueFillBuffer, queue_.get(), at->memory, pattern, wide ? sizeof pattern : 1,
        at->offset, bytes, 0, nullptr, command.receive());
  return submitted(std::move(command));
}

Status QueueStream::launch(const Launch &launch) {
  auto found = session_->kernel(launch.kernel);
  if (!found.ok()) return found.status();
  const Kernel &kernel = **found;
  const std::string named = std::string("the kernel ") + launch.kernel;
  const size_t parameters = launch.arguments.size() + (launch.shared_bytes > 0 ? 1 : 0);
  if (parameters != kernel.parameters) {
    return {LC_ERROR_INTERNAL, named + " takes " + std::to_string(kernel.parameters) +
                                   " arguments, not " + std::to_string(parameters)};
  }
  if (launch.thread_blocks == 0 || launch.thread_block_size == 0 ||
      launch.thread_block_size > kernel.most_threads) {
    return {LC_ERROR_DEVICE, named + " runs in thread blocks of 1 to " +
                                 std::to_string(kernel.most_threads) + " threads on " +
                                 session_->properties.id + ", not " +
                                 std::to_string(launch.thread_blocks) + " thread blocks of " +
                                 std::to_string(launch.thread_block_size)};
  }
  cl_uint index = 0;
  for (const Argument &argument : launch.arguments) {
    if (const auto *word = std::get_if<uint32_t>(&argument)) {
      LC_CL(clSetKernelArg, kernel.handle.get(), index, sizeof *word, word);
    } else if (const auto *wide = std::get_if<uint64_t>(&argument)) {
      LC_CL(clSetKernelArg, kernel.handle.get(), index, sizeof *wide, wide);
    } else {
      const Buffer *buffer = std::get<const Buffer *>(argument);
      cl_mem memory = nullptr;
      if (buffer != nullptr) {
        const auto here = resolve(*buffer, 0, 0);
        if (!here.ok()) return here.status();
        auto start = static_cast<const DeviceBuffer *>(buffer)->argument();
        if (!start.ok()) return start.status();
        memory = *start;
      }
      LC_CL(clSetKernelArg, kernel.handle.get(), index, sizeof memory, &memory);
    }
    ++index;
  }
  if (launch.shared_bytes > 0) {
    LC_CL(clSetKernelArg, kernel.handle.get(), index, launch.shared_bytes, nullptr);
  }
  const size_t thread_block = launch.thread_block_size;
  const size_t all = thread_block * launch.thread_blocks;
  EventHandle command;
  LC_CL(clEnqueueNDRangeKernel, queue_.get(), kernel.handle.get(), 1, nullptr, &all, &thread_block,
        0, nullptr, command.receive());
  return submitted(std::move(command));
}

Status QueueStream::mark(Event &event) {
  auto *mark = dynamic_cast<MarkedEvent *>(&event);
  if (mark == nullptr) {
    return {LC_ERROR_ARGUMENT, "the event is not of " + session_->properties.id};
  }
  settle();
  std::vector<EventHandle> under_way;
  for (const EventHandle &command : commands_) under_way.push_back(share(command));
  EventHandle marker;
  LC_CL(clEnqueueMarkerWithWaitList, queue_.get(), 0, nullptr, marker.receive());
  mark->record(std::move(marker), std::move(under_way), failure_);
  LC_CL(clFlush, queue_.get());
  return {};
}

Status QueueStream::await(Event &event) {
  auto *mark = dynamic_cast<MarkedEvent *>(&event);
  if (mark == nullptr) {
    return {LC_ERROR_ARGUMENT, "the event is not of " + session_->properties.id};
  }
  const cl_event marker = mark->marker();
  if (marker == nullptr) return {};
  EventHandle command;
  LC_CL(clEnqueueBarrierWithWaitList, queue_.get(), 1, &marker, command.receive());
  return submitted(std::move(command));
}

Status QueueStream::finish() {
  const cl_int code = cl().clFinish(queue_.get());
  settle();
  if (failure_ != CL_SUCCESS) return command_failed(failure_);
  return check("clFinish", code);
}

}  // namespace lanecrypt::device::opencl
