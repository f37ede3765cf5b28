// SPDX-License-Identifier: Apache-2.0
#include "device/host/host_kernels.h"

#include <algorithm>

#include "device/device.h"

namespace lanecrypt::device {

// The kernels of each set, listed by cmake/list_kernels.py.
#define LC_LIST(name, ...) std::span<const HostKernelEntry> host_##name##_kernels();
LC_KERNEL_SETS(LC_LIST)
#undef LC_LIST

namespace {

#define LC_LIST(name, ...) host_##name##_kernels,
constexpr std::span<const HostKernelEntry> (*kLists[])() = {LC_KERNEL_SETS(LC_LIST)};
#undef LC_LIST

}  // namespace

const HostKernelEntry *find_host_kernel(std::string_view name) {
  for (const auto list : kLists) {
    const std::span<const HostKernelEntry> kernels = list();
    const auto entry = std::find_if(kernels.begin(), kernels.end(),
                                    [&](const HostKernelEntry &e) { return e.name == name; });
    if (entry != kernels.end()) return &*entry;
  }
  return nullptr;
}

std::vector<std::string> host_kernels_named(std::string_view beginnings) {
  std::vector<std::string> names;
  for (size_t at = 0; at <= beginnings.size(); ++at) {
    const std::string_view beginning = beginnings.substr(at, beginnings.find(',', at) - at);
    at += beginning.size();
    for (const auto list : kLists)
      for (const HostKernelEntry &kernel : list())
        if (!beginning.empty() && kernel.name.starts_with(beginning))
          names.emplace_back(kernel.name);
  }
  return names;
}

}  // namespace lanecrypt::device
