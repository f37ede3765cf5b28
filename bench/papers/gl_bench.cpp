// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/gl_bench.h"

#include <fmt/format.h>

namespace lanecrypt::bench {

std::optional<lc_device_info> find_gl(const Context &context) {
  for (uint32_t index = 0; index < context.device_count(); index++) {
    const lc_device_info info = context.device(index);
    if (std::string_view(info.api) == "gl" && info.selected) return info;
  }
  // If the context selects only devices of other APIs, it has not looked for OpenGL.
  std::optional<lc_device_info> first;
  try {
    const Context all("gl", LC_FALLBACK_NONE);
    for (uint32_t index = 0; index < all.device_count(); index++) {
      const lc_device_info info = all.device(index);
      if (info.state == LC_DEVICE_UNUSABLE) continue;
      if (info.is_gpu) return info;
      if (!first) first = info;
    }
  } catch (const Error &error) {
    if (error.status() != LC_ERROR_NO_DEVICE) throw;
  }
  return first;
}

GlBench::GlBench(PaperBench &bench, const lc_device_info &device)
    : bench_(bench), id_(device.id), api_(device.api), is_gpu_(device.is_gpu != 0) {}

void GlBench::with(const GlWay &way, const std::function<void(const Context &)> &work) const {
  const auto measure = [&](const Context &context) {
    bench_.log.tell(way.name);
    if (lc_device_test(context.get(), 0) == LC_OK)
      work(context);
    else
      bench_.log.note(fmt::format("{} does not compute by {}: {}", id_, way.name, lc_last_error()));
  };
  if (!way.fragment)
    measure(Context(id_.c_str(), LC_FALLBACK_NONE));
  else if constexpr (gl2007::kIsHere) {
    lc_context *opened = nullptr;
    check(lc_gl2007_open(id_.c_str(), &*way.fragment, &opened));
    measure(Context::adopt(opened));
  } else
    bench_.log.note(
        fmt::format("{} by OpenGL is left out: it needs a build with LANECRYPT_DIAGNOSTICS, as "
                    "dev/bench makes",
                    way.name));
}

}  // namespace lanecrypt::bench
