// Jobs that graphs do again at each launch. The device's thread puts them into streams that are
// being captured.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>

#include "cipher/executor.h"
#include "work/segment_chunk.h"

namespace lanecrypt::runtime {

Result<const GraphJob *> Executor::capture(const RequestPointer &request,
                                           const GraphUpdate &update) {
  const GraphJob *captured = nullptr;
  const Status status = call([&](device::Device &device, DeviceMemory &memory) -> Status {
    const CipherKind &kind = request->job.kind;
    if (!offers(kind)) return does_not_offer(kind);
    if (!is_proven(kind)) prove(kind);
    if (state_ == LC_DEVICE_LOST) return Status(LC_ERROR_DEVICE, reason());
    try {
      Result<std::unique_ptr<GraphJob>> made = put_into_graph(device, memory, request, update);
      if (!made.ok()) return made.status();
      captured = made->get();
      std::lock_guard lock(mutex_);
      graph_jobs_.push_back(std::move(*made));
    } catch (const std::bad_alloc &) {  // on this thread nobody else catches it
      return out_of_memory();
    }
    return Status();
  });
  if (!status.ok()) return status;
  return captured;
}

Result<std::unique_ptr<GraphJob>> Executor::put_into_graph(device::Device &device,
                                                           DeviceMemory &memory,
                                                           const RequestPointer &request,
                                                           const GraphUpdate &update) {
  Result<std::unique_ptr<device::Stream>> stream =
      device.adopt_captured_stream(request->job.stream);
  if (!stream.ok()) return stream.status();
  Result<DeviceChunk> chunk =
      cut_device_chunk(request, memory, pipeline_->max_pieces(request->job.kind), kChunkBytes);
  if (!chunk.ok()) return chunk.status();
  if (!request->todo.empty())
    return Status(LC_ERROR_UNSUPPORTED, "capture: more segments than one launch takes");
  Result<GraphUpdateWork> work = find_graph_update(request->job, update, memory);
  if (!work.ok()) return work.status();
  SegmentsWork &segments = *chunk->work.aead.segments;
  segments.update = *work;
  // Where one way is its own inverse, the job does not know which it is.
  segments.rule.opens = update.opens ? 1 : 0;
  auto made = std::make_unique<GraphJob>(device, form_, std::move(chunk->work));
  LC_TRY(made->put_into(**stream));
  return made;
}

bool Executor::has_graph_job(const GraphJob *job) const {
  std::lock_guard lock(mutex_);
  return std::any_of(graph_jobs_.begin(), graph_jobs_.end(),
                     [&](const auto &one) { return one.get() == job; });
}

Status Executor::free_graph_job(const GraphJob *job) {
  return call([&](device::Device &, DeviceMemory &) {
    std::unique_ptr<GraphJob> gone;
    std::lock_guard lock(mutex_);
    const auto at = std::find_if(graph_jobs_.begin(), graph_jobs_.end(),
                                 [&](const auto &one) { return one.get() == job; });
    // A device that is stuck would not end the wiping: close_device() keeps it.
    if (at == graph_jobs_.end() || pipeline_->is_stuck()) return Status();
    gone = std::move(*at);
    graph_jobs_.erase(at);
    return Status();
  });
}

}  // namespace lanecrypt::runtime
