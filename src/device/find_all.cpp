// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "device/device.h"

namespace lanecrypt::device {

std::vector<Found> find_all() {
  std::vector<Found> all;
  [[maybe_unused]] const auto append = [&](std::vector<Found> found) {
    std::move(found.begin(), found.end(), std::back_inserter(all));
  };
#ifdef LANECRYPT_HAVE_CUDA
  append(find_cuda());
#endif
#ifdef LANECRYPT_HAVE_OPENCL
  append(find_opencl());
#endif
#ifdef LANECRYPT_HAVE_GL
  append(find_gl());
#endif
  append(find_host());
  return all;
}

std::string why_none([[maybe_unused]] const std::string &api) {
#ifdef LANECRYPT_HAVE_GL
  if (api == "gl") return why_no_gl();
#else
  if (api == "gl") return "OpenGL was left out when this was built";
#endif
  return "";
}

}  // namespace lanecrypt::device
