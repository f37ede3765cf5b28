// The state that all objects of one open device share. They hold it by shared_ptr, so that a buffer
// may outlive the Device that made it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "device/opencl/errors.h"
#include "device/opencl/info.h"

namespace lanecrypt::device::opencl {

class Allocation;

// Kernels that are compiled together: those whose names begin with `prefix`. The texts outlive
// every device.
struct ProgramPart {
  std::string_view prefix;
  std::string_view text;
  std::string_view sha256;        // of the text; part of the key of a cached binary
  std::string_view options = "";  // for the compiler, in addition to those of the device
};
// A kernel belongs to the first part whose prefix its name has. The last part's prefix matches
// every name; that part is compiled when a device is opened.
using ProgramSource = std::vector<ProgramPart>;

// A part, and the program it was compiled to; null before the first use of one of its kernels.
struct Program {
  ProgramPart part;
  ProgramHandle handle;
};

// A kernel of a program, ready to receive arguments.
struct Kernel {
  KernelHandle handle;
  cl_uint parameters = 0;
  size_t most_threads = 0;  // per thread block
};

// Device memory by its start address, shared by all users of the device: one user may have
// allocated what another is given. Buffers are freed on any thread.
struct AllocationBook {
  std::mutex mutex;
  std::map<uint64_t, std::weak_ptr<Allocation>> allocations;
};

struct Session {
  Properties properties;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  Residency residency;
  uint64_t alignment_bytes = 1;            // required of a sub-buffer's offset
  uint64_t most_buffer_bytes = 0;          // of one allocation
  std::shared_ptr<ContextHandle> context;  // shared by all users of the device
  std::vector<Program> programs;
  QueueHandle memory_queue;  // maps and unmaps pinned memory
  std::map<std::string, Kernel, std::less<>> kernels;
  std::shared_ptr<AllocationBook> book;  // shared by all users of the device

  // Returns the kernel of that name, created on first use. If none of its program's kernels was
  // used before, this compiles the program, which may take a minute. Fails with LC_ERROR_INTERNAL
  // if the program does not have the kernel.
  Result<Kernel *> kernel(const char *name);
};

}  // namespace lanecrypt::device::opencl
