// SPDX-License-Identifier: Apache-2.0
#include "welch.h"

#include <algorithm>
#include <cmath>

namespace lanecrypt::cli {

Welch welch(const std::vector<double> &a, const std::vector<double> &b, double limit) {
  struct Moments {
    double count = 0, mean = 0, squares = 0;
  };
  const auto moments = [&](const std::vector<double> &samples) {
    Moments m;
    for (double x : samples) {
      if (x > limit) continue;
      m.count += 1;
      const double delta = x - m.mean;
      m.mean += delta / m.count;
      m.squares += delta * (x - m.mean);
    }
    return m;
  };
  const Moments x = moments(a), y = moments(b);
  if (x.count < 2 || y.count < 2) return {};
  const double variance = x.squares / (x.count - 1) / x.count + y.squares / (y.count - 1) / y.count;
  return {variance == 0 ? 0 : (x.mean - y.mean) / std::sqrt(variance), x.mean, y.mean};
}

double ordinary_limit(std::vector<double> samples) {
  const auto limit = samples.begin() + static_cast<long>(samples.size() * 95 / 100);
  std::nth_element(samples.begin(), limit, samples.end());
  return *limit;
}

}  // namespace lanecrypt::cli
