// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bench/papers/harrison.h"
#include "bench/report/core_share.h"

namespace lanecrypt::bench {

void paper_h_idle(const GlBench &gl) {
  const OneCore one_core;
  if (!one_core.is_set()) {
    gl.bench().log.note("H: the CPU idle time is left out: the process may not choose its core");
    return;
  }
  const BenchCase run{*cli::find_cipher("aes-128-ecb"), LC_ENCRYPT};
  const uint64_t bytes = gl.is_gpu() ? 4 << 20 : 4 << 10;
  const CountingTask task(gl.is_small() ? 0.05 : 0.4);
  const std::vector<GlWay> ways = {kComputeWay,
                                   kIntegerWay,
                                   kTable8Way,
                                   {"table4", gl2007::Way{.xor_by = gl2007::Xor::kTable4}},
                                   {"raster", gl2007::Way{.xor_by = gl2007::Xor::kRaster}}};
  for (const GlWay &way : ways)
    gl.with(way, [&](const Context &context) {
      PaperData data(context, bytes, false);
      data.by_device(context, 0, run, bytes);
      const unsigned runs = gl.is_small() ? 1 : 3;
      std::vector<double> idle;
      uint64_t passes = 0;
      for (unsigned n = 0; n < runs; n++) {
        const Share share = concurrent_share(task, [&] {
          data.by_device(context, 0, run, bytes);
          passes++;
        });
        idle.push_back(share.percent);
      }
      data.check(run, bytes, "H.idle." + way.name);
      BenchResult result{fmt::format("H.idle.{}.{}", way.name, gl.api()),
                         "% idle",
                         spread_of(idle),
                         bytes,
                         passes,
                         "wall",
                         {}};
      gl.bench().log.add(std::move(result));
    });
}

}  // namespace lanecrypt::bench
