// The emulator's kernels, called by name with arguments as numbers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lanecrypt::device {

// Runs one thread of a kernel. `arguments` are the kernel's parameters in order, pointers as
// addresses. If the kernel has shared memory, it is the last argument.
using HostKernel = void (*)(std::span<const uint64_t> arguments);

struct HostKernelEntry {
  std::string_view name;
  HostKernel run;
  size_t parameters;  // including shared memory
};

// Returns nullptr if there is no such kernel.
const HostKernelEntry *find_host_kernel(std::string_view name);

// Returns the names of the kernels that begin with one of the prefixes in `beginnings`, a list
// separated by commas.
std::vector<std::string> host_kernels_named(std::string_view beginnings);

}  // namespace lanecrypt::device
