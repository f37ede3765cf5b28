// An open OpenCL device, and the enumeration of devices.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "device/opencl/program.h"
#include "device/opencl/session.h"

namespace lanecrypt::device::opencl {

class OpenClDevice : public Device {
 public:
  static Result<std::unique_ptr<Device>> open(cl_platform_id platform, cl_device_id device,
                                              Properties properties, const ProgramSource &source);

  const Properties &properties() const override { return session_->properties; }
  Result<std::unique_ptr<Buffer>> allocate(MemoryKind kind, uint64_t bytes) override;
  Result<std::unique_ptr<Buffer>> view(uint64_t address, uint64_t bytes) override;
  Result<std::unique_ptr<Stream>> make_stream() override;
  Result<std::unique_ptr<Stream>> adopt_stream(void *handle) override;
  Result<std::unique_ptr<Event>> make_event() override;
  uint32_t resident_thread_blocks(const char *kernel, uint32_t thread_block_size,
                                  uint32_t shared_bytes) override;

  // For tests, which create their own queues.
  const Session &session() const { return *session_; }

 private:
  explicit OpenClDevice(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  std::shared_ptr<Session> session_;
};

// Returns every device of every platform, to be opened with the programs of `source_of`.
// find_opencl() calls this with the built-in programs.
using SourceOf = std::function<ProgramSource(KernelSet)>;
std::vector<Found> find_devices(const SourceOf &source_of);

}  // namespace lanecrypt::device::opencl
