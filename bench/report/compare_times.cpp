// SPDX-License-Identifier: Apache-2.0
#include "bench/report/compare_times.h"

#include <algorithm>
#include <cmath>

namespace lanecrypt::bench {
namespace {

constexpr size_t kRuns = 10;  // the launches are divided into this many consecutive runs

// Disturbances by the system take much longer than the other samples, affect both kinds alike and
// hide small differences. So t is also computed for only the fastest launches, with each of these
// shares.
constexpr double kCrops[] = {0.5, 0.75, 0.9, 0.95, 0.99, 1};
constexpr double kUsualCrop = 0.95;

struct Moments {
  double count = 0, mean = 0, squares = 0;
  void add(double x) {
    count += 1;
    const double delta = x - mean;
    mean += delta / count;
    squares += delta * (x - mean);
  }
};

double welch_t(const Moments &x, const Moments &y) {
  if (x.count < 2 || y.count < 2) return 0;
  const double variance = x.squares / (x.count - 1) / x.count + y.squares / (y.count - 1) / y.count;
  return variance == 0 ? 0 : (x.mean - y.mean) / std::sqrt(variance);
}

// Returns the time that `share` of all launches do not exceed.
double crop_at(std::span<const TimedLaunch> launches, double share) {
  std::vector<double> times;
  for (const TimedLaunch &launch : launches) times.push_back(launch.ns);
  const auto at = times.begin() + static_cast<long>(share * static_cast<double>(times.size() - 1));
  std::nth_element(times.begin(), at, times.end());
  return *at;
}

// Compares consecutive runs of the launches with the fixed key and equal data.
Spread between_runs(std::span<const TimedLaunch> launches) {
  const double limit = crop_at(launches, kUsualCrop);
  Moments runs[kRuns];
  for (size_t n = 0; n < launches.size(); ++n)
    if (launches[n].ns <= limit && !launches[n].key_varies && !launches[n].data_varies)
      runs[n * kRuns / launches.size()].add(launches[n].ns);
  Spread spread{0, runs[0].mean, runs[0].mean, unsigned(launches.size())};
  for (size_t n = 1; n < kRuns; ++n) {
    if (runs[n].count == 0 || runs[n - 1].count == 0) continue;
    spread.median = std::max(spread.median, std::abs(runs[n].mean - runs[n - 1].mean));
    spread.min = std::min(spread.min, runs[n].mean);
    spread.max = std::max(spread.max, runs[n].mean);
  }
  return spread;
}

}  // namespace

std::vector<BenchResult> compare_times(const std::string &name,
                                       std::span<const TimedLaunch> launches,
                                       std::mt19937_64 &random) {
  std::vector<BenchResult> results;
  if (launches.empty()) return results;
  const unsigned count = unsigned(launches.size());
  std::vector<bool> coins;
  for (size_t n = 0; n < launches.size(); ++n) coins.push_back(random() & 1);
  Spread t[3], ns[3];
  for (const double share : kCrops) {
    const double limit = crop_at(launches, share);
    Moments kinds[3][2];
    for (size_t n = 0; n < launches.size(); ++n) {
      const TimedLaunch &launch = launches[n];
      if (launch.ns > limit) continue;
      kinds[0][launch.key_varies].add(launch.ns);
      kinds[1][launch.data_varies].add(launch.ns);
      if (!launch.key_varies) kinds[2][coins[n]].add(launch.ns);
    }
    for (int i = 0; i < 3; ++i) {
      const double found = welch_t(kinds[i][0], kinds[i][1]);
      if (std::abs(found) > std::abs(t[i].median)) t[i].median = found;
      t[i].min = share == kCrops[0] ? found : std::min(t[i].min, found);
      t[i].max = share == kCrops[0] ? found : std::max(t[i].max, found);
      t[i].runs = count;
      if (share != kUsualCrop) continue;
      const auto [least, most] = std::minmax(kinds[i][0].mean, kinds[i][1].mean);
      ns[i] = {kinds[i][0].mean - kinds[i][1].mean, least, most, count};
    }
  }
  const auto add = [&](const std::string &what, const char *unit, const Spread &spread) {
    results.push_back({name + ".timing-" + what, unit, spread, {}, {}, "", {}});
  };
  const char *const what[] = {"keys", "data", "control"};
  for (int i = 0; i < 3; ++i) {
    add(std::string(what[i]) + "-t", "t", t[i]);
    add(std::string(what[i]) + "-ns", "ns", ns[i]);
  }
  add("runs-ns", "ns", between_runs(launches));
  return results;
}

}  // namespace lanecrypt::bench
