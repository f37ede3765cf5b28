// A graph for the emulator, which has none. It records what is launched in a captured stream, and
// launches that again.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "unit/support/watched_device.h"

namespace lanecrypt::test {

// The launches that a captured stream recorded. As in a CUDA graph, they only name their buffers
// and do not keep them alive.
class Graph {
 public:
  void add(const device::Launch &launch) {
    launches_.push_back(
        {launch.kernel, launch, {launch.arguments.begin(), launch.arguments.end()}});
  }
  void launch(device::Stream &stream) const {
    for (const Kept &kept : launches_) {
      device::Launch again = kept.launch;
      again.kernel = kept.kernel.c_str();
      again.arguments = kept.arguments;
      ASSERT_TRUE(stream.launch(again).ok());
    }
    ASSERT_TRUE(stream.finish().ok());
  }
  bool is_empty() const { return launches_.empty(); }
  bool has(const std::string &kernel) const {
    return std::any_of(launches_.begin(), launches_.end(),
                       [&](const Kept &kept) { return kept.kernel == kernel; });
  }

 private:
  struct Kept {
    std::string kernel;
    device::Launch launch;
    std::vector<device::Argument> arguments;
  };
  std::vector<Kept> launches_;
};

class CapturedStream : public device::Stream {
 public:
  explicit CapturedStream(Graph &graph) : graph_(graph) {}
  Status upload(const device::Buffer &, uint64_t, const void *, uint64_t) override { return no(); }
  Status download(void *, const device::Buffer &, uint64_t, uint64_t) override { return no(); }
  Status copy(const device::Buffer &, uint64_t, const device::Buffer &, uint64_t,
              uint64_t) override {
    return no();
  }
  Status zero(const device::Buffer &, uint64_t, uint64_t) override { return no(); }
  Status launch(const device::Launch &launch) override {
    graph_.add(launch);
    return Status();
  }
  Status mark(device::Event &) override { return Status(); }
  Status await(device::Event &) override { return no(); }
  Status finish() override { return no(); }

 private:
  static Status no() {
    ADD_FAILURE() << "a launch of the graph cannot do this, or should not";
    return Status(LC_ERROR_INTERNAL, "not in a graph");
  }
  Graph &graph_;
};

// A device whose captured streams record launches. The handle of such a stream is its `Graph`.
class CapturingDevice : public WatchedDevice {
 public:
  using WatchedDevice::WatchedDevice;
  Result<std::unique_ptr<device::Stream>> adopt_captured_stream(void *handle) override {
    return std::unique_ptr<device::Stream>(new CapturedStream(*static_cast<Graph *>(handle)));
  }
};

}  // namespace lanecrypt::test
