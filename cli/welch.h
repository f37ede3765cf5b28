// Welch's t of two kinds of samples of time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace lanecrypt::cli {

// Of the samples up to a limit: t, and the means.
struct Welch {
  double t = 0, mean_a = 0, mean_b = 0;
};
Welch welch(const std::vector<double> &a, const std::vector<double> &b, double limit);

// What 95 of 100 samples do not exceed: what the system does beside is far from
// the rest, and in both kinds alike.
double ordinary_limit(std::vector<double> samples);

}  // namespace lanecrypt::cli
