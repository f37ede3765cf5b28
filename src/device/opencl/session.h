// What all objects of one open device share. They hold it by shared_ptr, so
// that a buffer may outlive the Device that made it.
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

// Kernels that are compiled together: those whose names begin with `prefix`. The
// texts outlive every device.
struct ProgramPart {
  std::string_view prefix;
  std::string_view text;
  std::string_view sha256;        // of the text: part of the name of a cached binary
  std::string_view options = "";  // for the compiler, beside those of the device
};
// A kernel stands in the first part that its name fits; the last fits all, and
// is what a device compiles to be opened.
using ProgramSource = std::vector<ProgramPart>;

// A part, and what it was compiled to: null before the first use of a kernel.
struct Program {
  ProgramPart part;
  ProgramHandle handle;
};

// A kernel of a program, ready to be given arguments.
struct Kernel {
  KernelHandle handle;
  cl_uint parameters = 0;
  size_t most_threads = 0;  // of a thread block
};

// Device memory by its start address, of all who have the device open: one may have allocated
// what another is given. Buffers are freed from any thread.
struct AllocationBook {
  std::mutex mutex;
  std::map<uint64_t, std::weak_ptr<Allocation>> allocations;
};

struct Session {
  Properties properties;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  Residency residency;
  uint64_t alignment_bytes = 1;            // of a sub-buffer
  uint64_t most_buffer_bytes = 0;          // of one allocation
  std::shared_ptr<ContextHandle> context;  // of all who have the device open
  std::vector<Program> programs;
  QueueHandle memory_queue;  // maps and unmaps pinned memory
  std::map<std::string, Kernel, std::less<>> kernels;
  std::shared_ptr<AllocationBook> book;  // likewise

  // The kernel of that name, made on first use; its program is compiled, which
  // may take a minute, where none of its kernels was used before.
  // LC_ERROR_INTERNAL where the program does not have it.
  Result<Kernel *> kernel(const char *name);
};

}  // namespace lanecrypt::device::opencl
