// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "device/opencl/opencl_device.h"
#include "device/opencl/signal_handlers.h"

namespace lanecrypt::device {
namespace opencl {
namespace {

std::vector<cl_platform_id> platforms() {
  cl_uint count = 0;
  // An ICD loader without drivers returns -1001, which means no platforms.
  if (cl().clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return {};
  std::vector<cl_platform_id> all(count);
  if (cl().clGetPlatformIDs(count, all.data(), &count) != CL_SUCCESS) return {};
  all.resize(std::min<size_t>(all.size(), count));
  return all;
}

std::vector<cl_device_id> devices(cl_platform_id platform) {
  cl_uint count = 0;
  if (cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS ||
      count == 0) {
    return {};
  }
  std::vector<cl_device_id> all(count);
  if (cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, all.data(), &count) != CL_SUCCESS) {
    return {};
  }
  all.resize(std::min<size_t>(all.size(), count));
  return all;
}

}  // namespace

std::vector<Found> find_devices(const SourceOf &source_of) {
  // Comes first, since a child of fork() may inherit the locks below in locked state.
  if (!begin_use()) return {};
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  const KeptSignalHandlers kept;
  if (!load()) return {};

  std::vector<Found> found;
  for (const cl_platform_id platform : platforms()) {
    for (const cl_device_id device : devices(platform)) {
      Properties properties = describe(platform, device);
      properties.api = "opencl";
      properties.id = "opencl:" + std::to_string(found.size());
      const auto open = [platform, device, properties, source_of](KernelSet set) {
        return OpenClDevice::open(platform, device, properties, source_of(set));
      };
      found.push_back({std::move(properties), open});
    }
  }
  return found;
}

}  // namespace opencl

std::vector<Found> find_opencl() { return opencl::find_devices(opencl::source_of); }

std::string why_no_opencl() { return opencl::survived_fork() ? "" : kUsedByParent; }

}  // namespace lanecrypt::device
