// Calls the APIs that are built in.
//
// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "device/device_enumeration.h"
#include "process/of_process.h"

namespace lanecrypt::device {
namespace {

// The different openings so far: the device's id, its set of kernels, and whether it succeeded.
struct Openings {
  std::mutex mutex;
  std::set<std::tuple<std::string, KernelSet, bool>> different;
};

process::OfProcess<Openings> openings;

std::vector<Found> find_of(const std::string &api) {
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

}  // namespace

std::vector<Found> find_here(const std::string &api) {
  std::vector<Found> all = find_of(api);
  for (Found &found : all)
    found.open = [open = std::move(found.open), id = found.properties.id](KernelSet set) {
      Result<std::unique_ptr<Device>> opened = open(set);
      Openings &mine = openings.get();
      const std::lock_guard lock(mine.mutex);
      mine.different.emplace(id, set, opened.ok());
      return opened;
    };
  return all;
}

size_t count_different_openings() {
  Openings &mine = openings.get();
  const std::lock_guard lock(mine.mutex);
  return mine.different.size();
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
