// A job of messages in a device's memory: all of it goes into one stream, and the messages stay
// where they are.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "hash/hash_launch.h"
#include "hash/hash_request.h"

namespace lanecrypt::runtime {

// A job under way.
struct DeviceHashes {
  HashRequestPointer request;
  HashWorkspace workspace;
  std::unique_ptr<device::Stream> stream;  // ours, or the caller's
  std::unique_ptr<device::Event> done;
  std::unique_ptr<device::Buffer> in_view, out_view;
  std::chrono::steady_clock::time_point started;
  std::vector<uint64_t> values_at;  // ParallelHash: by message, in workspace.results
};

// Puts the job into the stream, with what zeroes secrets on the device behind it. After an error
// some of it may be there, but nothing that runs.
Status start_hashes(device::Device &device, HashLaunch &launch, DeviceHashes &job);
// Writes the digests that go to host memory, when the job is over.
Status finish_hashes(DeviceHashes &job);
// Wipes on the host what a key has made secret, however the job ended.
void wipe_hashes(DeviceHashes &job);

}  // namespace lanecrypt::runtime
