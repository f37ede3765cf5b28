// SPDX-License-Identifier: Apache-2.0
#include "bench/report/batch_timing.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "bench/report/compare_times.h"

namespace lanecrypt::bench {

BatchTiming::BatchTiming(std::string where, unsigned launches)
    : where_(std::move(where)), launches_(launches) {
  std::random_device seed;
  random_.seed((uint64_t{seed()} << 32) | seed());
}

void BatchTiming::measure(const std::string &name, const Step &prepare, const Step &run) {
  std::vector<TimedLaunch> timed;
  const unsigned warm_up = std::min(100u, launches_ / 10);
  for (unsigned n = 0; n < launches_ + warm_up; ++n) {
    const size_t keys_vary = random_() & 1, data_vary = random_() & 1;
    const size_t key = keys_vary * kPlaces + random_() % kPlaces,
                 data = data_vary * kPlaces + random_() % kPlaces;
    prepare(key, data);
    const auto start = std::chrono::steady_clock::now();
    run(key, data);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    if (n >= warm_up) timed.push_back({took.count(), keys_vary != 0, data_vary != 0});
  }
  for (BenchResult &result : compare_times(name, timed, random_)) {
    if (result.unit == "t")
      std::fprintf(stderr, "%-48s t = %6.2f\n", result.name.c_str(), result.spread.median);
    result.name += "." + where_;
    result.clock = "wall";
    results_.push_back(std::move(result));
  }
}

}  // namespace lanecrypt::bench
