// What the library has only for its benchmarks: kernels of fragment shaders.
//
// SPDX-License-Identifier: Apache-2.0
#include "abi/device_xor.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "abi/boundary.h"

using lanecrypt::Result;
using lanecrypt::Status;
using lanecrypt::abi::find_device;
using lanecrypt::abi::guarded;
using lanecrypt::abi::tell;
using lanecrypt::runtime::Executor;

namespace {

// Runs a kernel of fragment shaders, which no job uses, over `bytes` at each pointer.
lc_status draw(lc_context *context, uint32_t index, const char *kernel, const char *missing,
               std::initializer_list<const void *> pointers, uint64_t bytes,
               std::initializer_list<uint32_t> numbers) {
  Result<Executor *> found = find_device(context, index);
  if (!found.ok()) return tell(found.status());
  return tell((*found)->call([&](lanecrypt::device::Device &device, auto &) -> Status {
    const std::vector<std::string> &kernels = device.properties().kernels;
    if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end())
      return {LC_ERROR_UNSUPPORTED, device.properties().id + missing};
    std::vector<std::unique_ptr<lanecrypt::device::Buffer>> views;
    std::vector<lanecrypt::device::Argument> arguments;
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
}

}  // namespace

lc_status lc_device_xor(lc_context *context, uint32_t index, const void *a, const void *b,
                        void *out, uint64_t bytes, uint32_t times) {
  return guarded([&]() -> lc_status {
    if (a == nullptr || b == nullptr || out == nullptr || out == a || out == b)
      return tell(LC_ERROR_ARGUMENT, "a pointer is missing, or out is one of the inputs");
    if (bytes == 0 || bytes % 16 != 0 || bytes / 16 > UINT32_MAX)
      return tell(LC_ERROR_ARGUMENT, "what is XORed is a multiple of 16 bytes below 64 GiB");
    if (times % 2 == 0) return tell(LC_ERROR_ARGUMENT, "XORing is repeated an odd number of times");
    return draw(context, index, "xor_blocks",
                " has no fragment shaders whose XOR could be measured", {a, b, out}, bytes,
                {static_cast<uint32_t>(bytes / 16), times});
  });
}

lc_status lc_device_fragment_places(lc_context *context, uint32_t index, void *out,
                                    uint64_t bytes) {
  return guarded([&]() -> lc_status {
    if (out == nullptr || bytes == 0 || bytes % 16 != 0 || bytes / 16 > UINT32_MAX)
      return tell(LC_ERROR_ARGUMENT, "a fragment writes 16 bytes, and not more than 64 GiB");
    return draw(context, index, "fragment_places", " has no fragments that tell where they run",
                {out}, bytes, {static_cast<uint32_t>(bytes / 16)});
  });
}
