// A job that a graph does again at each launch. It has all that the graph's nodes name on the
// device for itself, its key too, until it goes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "launch/aead_launch.h"

namespace lanecrypt::runtime {

// For the device's thread. Not pipelined: the host learns nothing of what the graph does.
class GraphJob {
 public:
  GraphJob(device::Device &device, const LaunchForm &form, ChunkWork work);
  // Zeroes its memory. The graph does not run, and is not launched again.
  ~GraphJob();
  GraphJob(const GraphJob &) = delete;

  // Brings what is the same at each launch to the device, and the launches into a stream that is
  // being captured. Once; the keys of the work are not read later.
  Status put_into(device::Stream &captured);

 private:
  device::Device &device_;
  BlockLaunch blocks_;
  AeadLaunch aead_;
  AeadWorkspace workspace_;
  ChunkWork work_;
  std::unique_ptr<device::Stream> stream_;  // its own
};

}  // namespace lanecrypt::runtime
