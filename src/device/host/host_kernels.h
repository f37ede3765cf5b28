// The kernels as the emulator calls them: by name, with arguments as numbers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lanecrypt::device {

// Runs one thread. `arguments` are the kernel's parameters in order, pointers as
// addresses; the last is the shared memory where the kernel has one.
using HostKernel = void (*)(std::span<const uint64_t> arguments);

struct HostKernelEntry {
  std::string_view name;
  HostKernel run;
  size_t parameters;  // shared memory counted
};

// nullptr when there is no such kernel.
const HostKernelEntry *find_host_kernel(std::string_view name);

// The names that begin with one of these words, which have commas between them.
std::vector<std::string> host_kernels_named(std::string_view beginnings);

}  // namespace lanecrypt::device
