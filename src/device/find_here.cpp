// Which APIs are built in.
//
// SPDX-License-Identifier: Apache-2.0
#include "device/survey.h"

namespace lanecrypt::device {

std::vector<Found> find_here(const std::string &api) {
#ifdef LANECRYPT_HAVE_CUDA
  if (api == "cuda") return find_cuda();
#endif
#ifdef LANECRYPT_HAVE_OPENCL
  if (api == "opencl") return find_opencl();
#endif
#ifdef LANECRYPT_HAVE_GL
  if (api == "gl") return find_gl();
#endif
#ifdef LANECRYPT_DIAGNOSTICS
  if (api == "host") return find_host();
#endif
  return {};
}

std::vector<Found> find_all_here() {
  std::vector<Found> all;
  for (const char *api : {"cuda", "opencl", "gl", "host"})
    for (Found &found : find_here(api)) all.push_back(std::move(found));
  return all;
}

std::string why_none_here([[maybe_unused]] const std::string &api) {
#ifdef LANECRYPT_HAVE_CUDA
  if (api == "cuda") return why_no_cuda();
#endif
#ifdef LANECRYPT_HAVE_OPENCL
  if (api == "opencl") return why_no_opencl();
#endif
#ifdef LANECRYPT_HAVE_GL
  if (api == "gl") return why_no_gl();
#else
  if (api == "gl") return "OpenGL was left out when this was built";
#endif
#ifndef LANECRYPT_DIAGNOSTICS
  if (api == "host") return "the emulator is for tests, and was left out when this was built";
#endif
  return "";
}

}  // namespace lanecrypt::device
