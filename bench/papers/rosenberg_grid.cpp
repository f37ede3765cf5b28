// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bench/papers/rosenberg.h"

namespace lanecrypt::bench {
namespace {

struct Sweep {
  std::vector<uint32_t> groups, threads;
  std::vector<uint64_t> blocks_a_thread;
  uint64_t most_bytes;
};

// 360 x 512 x 10 was the paper's best. Large GPUs today have 132 multiprocessors.
Sweep sweep_of(bool is_gpu, bool quick) {
  if (!is_gpu) return {{2}, {1}, {10}, 1 << 20};
  if (quick) return {{132, 360}, {512}, {10, 100}, 64 << 20};
  return {{33, 66, 132, 264, 360}, {128, 256, 512}, {1, 10, 100, 1000}, uint64_t{1} << 30};
}

// The bytes of each output that are compared. All threads write in that part.
constexpr uint64_t kCheckedBytes = 32 << 20;

}  // namespace

void paper_r_grid(PaperBench &bench, uint32_t device) {
  const lc_device_info info = bench.context.device(device);
  const Sweep sweep = sweep_of(info.is_gpu != 0, bench.quick);
  const BenchCase run = paper_r_case();
  PaperData data(bench.context, sweep.most_bytes, false);
  for (const uint32_t groups : sweep.groups)
    for (const uint32_t threads : sweep.threads) {
      const std::string grid = fmt::format("{}x{}", groups, threads);
      const ScopedSetting setting("LANECRYPT_AES_GRID", grid);
      const Context context(info.id, LC_FALLBACK_NONE);
      if (lc_device_test(context.get(), 0) != LC_OK) {
        bench.log.note(
            fmt::format("R: blocks x threads of {} are not measured: {}", grid, lc_last_error()));
        if (threads == sweep.threads.back()) return;
        continue;
      }
      CardData card(context, 0, data.data(), sweep.most_bytes);
      card.fill_from(data.in());
      for (const uint64_t each : sweep.blocks_a_thread) {
        const uint64_t bytes = uint64_t{groups} * threads * each * cli::kBlockBytes;
        if (bytes > sweep.most_bytes) continue;
        const std::string name = fmt::format("R.grid.{}x{}.{}", grid, each, info.api);
        bench.log.tell(name);
        BenchResult result{name, "GB/s", {}, bytes, {}, "", {}};
        result.spread = measure_rate({7, 3, 0.05}, static_cast<double>(bytes) / 1e9,
                                     [&] { return card.by_kernel(run, bytes); });
        result.clock = card.clock();
        const uint64_t checked = std::min(bytes, kCheckedBytes);
        card.read_to(data.out(), checked);
        data.check(run, checked, name);
        bench.log.add(std::move(result));
      }
    }
}

}  // namespace lanecrypt::bench
