// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/gl2007/gl2007.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "abi/boundary.h"
#include "bench/papers/gl2007/fragment_kernels.h"
#include "device/device_enumeration.h"
#include "device/gl/gl_device.h"

namespace lanecrypt::bench::gl2007 {
namespace {

using device::Device;
using device::gl::EglPlace;

Result<std::unique_ptr<Device>> open_device(const EglPlace &place,
                                            const device::Properties &properties, const Way &way) {
  auto context = device::gl::Context::open(place, way.xor_by == Xor::kRaster);
  if (!context.ok()) return context.status();
  LC_TRY(check_drawing());
  auto kernels = std::make_unique<FragmentKernels>(way, (*context)->limits());
  return device::gl::open_device(std::move(*context), std::move(kernels), properties);
}

// All devices of OpenGL, each to be opened in this way.
device::DeviceEnumeration find(const Way &way) {
  device::DeviceEnumeration devices;
  for (const EglPlace &place : device::gl::find_places()) {
    const device::Properties properties = device::gl::describe(place, devices.found.size());
    devices.found.push_back({properties, [place, properties, way](device::KernelSet) {
                               return open_device(place, properties, way);
                             }});
  }
  return devices;
}

// Runs `kernel`, one that no cipher job uses, over `bytes` bytes at each pointer.
lc_status draw(lc_context *context, const char *kernel,
               std::initializer_list<const void *> pointers, uint64_t bytes,
               std::initializer_list<uint32_t> numbers) {
  return abi::guarded([&]() -> lc_status {
    Result<runtime::Executor *> found = abi::find_device(context, 0);
    if (!found.ok()) return abi::report(found.status());
    return abi::report((*found)->call([&](Device &device, auto &) -> Status {
      const std::vector<std::string> &kernels = device.properties().kernels;
      if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end())
        return {LC_ERROR_UNSUPPORTED, device.properties().id + " has no kernel " + kernel};
      std::vector<std::unique_ptr<Buffer>> views;
      std::vector<device::Argument> arguments;
      for (const void *pointer : pointers) {
        auto view = device.view(reinterpret_cast<uint64_t>(pointer), bytes);
        if (!view.ok()) return view.status();
        arguments.emplace_back(views.emplace_back(std::move(*view)).get());
      }
      arguments.insert(arguments.end(), numbers.begin(), numbers.end());
      auto stream = device.make_stream();
      if (!stream.ok()) return stream.status();
      LC_TRY((*stream)->launch({kernel, 1, 1, 0, arguments}));
      return (*stream)->finish();
    }));
  });
}

}  // namespace
}  // namespace lanecrypt::bench::gl2007

using namespace lanecrypt::bench;

lc_status lc_gl2007_open(const char *id, const gl2007::Way *way, lc_context **context) {
  return lanecrypt::abi::guarded([&]() -> lc_status {
    lanecrypt::runtime::DispatcherOptions options;
    options.devices = id;
    options.fallback = LC_FALLBACK_NONE;
    options.find = [way = *way] { return gl2007::find(way); };
    *context = new lc_context(std::move(options));
    return LC_OK;
  });
}

lc_status lc_gl2007_xor(lc_context *context, const void *a, const void *b, void *out,
                        uint64_t bytes, uint32_t times) {
  return gl2007::draw(context, gl2007::kXorBlocks, {a, b, out}, bytes,
                      {static_cast<uint32_t>(bytes / 16), times});
}

lc_status lc_gl2007_places(lc_context *context, void *out, uint64_t bytes) {
  return gl2007::draw(context, gl2007::kTellPlaces, {out}, bytes,
                      {static_cast<uint32_t>(bytes / 16)});
}
