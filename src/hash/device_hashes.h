// A hash job whose messages are in a device's memory. All of its work is enqueued into one stream,
// and the messages are not copied.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "hash/hash_launch.h"
#include "hash/hash_request.h"

namespace lanecrypt::runtime {

// `DeviceHashes` is a job in flight.
struct DeviceHashes {
  HashRequestPointer request;
  HashWorkspace workspace;
  std::unique_ptr<device::Stream> stream;  // owned by the library, or adopted from the caller
  std::unique_ptr<device::Event> done;
  std::unique_ptr<device::Buffer> in_view, out_view;
  std::chrono::steady_clock::time_point started;
  // ParallelHash: the offset of each message's values in workspace.results
  std::vector<uint64_t> values_at;
};

// Enqueues the job into its stream, followed by the zeroing of secrets on the device. If it returns
// an error, part of the work may have run, but the stream is idle.
Status start_hashes(device::Device &device, HashLaunch &launch, DeviceHashes &job);
// Writes the digests that go to host memory, after the job is complete.
Status finish_hashes(DeviceHashes &job);
// Wipes host memory that a secret key makes secret. To be called however the job ended.
void wipe_hashes(DeviceHashes &job);

}  // namespace lanecrypt::runtime
