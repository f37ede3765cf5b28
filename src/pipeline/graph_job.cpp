// SPDX-License-Identifier: Apache-2.0
#include "pipeline/graph_job.h"

#include <utility>

namespace lanecrypt::runtime {

GraphJob::GraphJob(device::Device &device, const LaunchForm &form, ChunkWork work)
    : device_(device),
      blocks_(device, form.blocks, form.grid),
      aead_(device, blocks_),
      work_(std::move(work)) {
  work_.is_in_graph = true;
  blocks_.pair_no_launches();
}

GraphJob::~GraphJob() {
  aead_.wipe(workspace_);
  if (stream_ == nullptr) return;
  for (const auto *buffer : {workspace_.staged.device.get(), workspace_.starts.schedules.get(),
                             workspace_.text.schedules.get(), workspace_.results.get()})
    if (buffer != nullptr) (void)stream_->zero(*buffer, 0, buffer->bytes());
  (void)stream_->finish();
}

Status GraphJob::put_into(device::Stream &captured) {
  Result<std::unique_ptr<device::Stream>> stream = device_.make_stream();
  if (!stream.ok()) return stream.status();
  stream_ = std::move(*stream);
  // Not in the graph, which would name memory of the host.
  LC_TRY(aead_.upload(*stream_, workspace_, work_));
  LC_TRY(stream_->finish());
  aead_.wipe(workspace_);
  return aead_.launch(captured, workspace_, work_, nullptr, nullptr);
}

}  // namespace lanecrypt::runtime
