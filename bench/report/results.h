// The results of a benchmark, in the format of bench/results/.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace lanecrypt::bench {

// Median, minimum and maximum of some runs.
struct Spread {
  double median = 0, min = 0, max = 0;
  unsigned runs = 0;
};

// How often a case is run: `runs` times, or fewer once `budget_seconds` are over, but at least
// `least_runs` times. If `warms_up` is set, one more run comes first and does not count.
struct Patience {
  unsigned runs = 20;
  unsigned least_runs = 3;
  double budget_seconds = 5;
  bool warms_up = true;
};

// Calls `run`, which returns the seconds that it measured. Returns the spread of `amount` per
// second. `amount` is in GB for rates of bytes.
Spread measure_rate(const Patience &patience, double amount, const std::function<double()> &run);

// Returns the spread of the seconds themselves.
Spread measure_seconds(const Patience &patience, const std::function<double()> &run);

// Returns the spread of values that were measured elsewhere.
Spread spread_of(std::vector<double> values);

// A value over time: the seconds since the start, and the value.
using Series = std::vector<std::array<double, 2>>;

struct BenchResult {
  std::string name;  // what.how.where
  std::string unit;
  Spread spread;
  std::optional<uint64_t> bytes;       // of one run
  std::optional<uint64_t> streams;     // independent messages of one run
  std::string clock;                   // "device" or "wall"
  std::optional<double> over_openssl;  // ratio to OpenSSL's rate on one core in this run
  std::optional<double> published{};   // the paper's figure in the same unit
  Series series{};                     // if it was measured over time
  std::optional<double> cores_busy{};  // the process's CPU time divided by the elapsed time
  std::optional<double> gb_per_s{};    // of the job that ran concurrently with what was measured
  std::string load{};                  // what occupied the other cores
  // For the provider: operations that ran on its device, and operations that ran on the CPU.
  std::optional<uint64_t> on_device{}, on_cpu{};
};

struct Machine {
  std::string gpu, driver, cpu;
  unsigned cores = 0;
};
// Describes this machine. The caller sets `gpu` and `driver`.
Machine this_machine();

nlohmann::ordered_json results_json(const Machine &machine,
                                    const std::vector<BenchResult> &results);
// The machine, the date and the software as in results_json(), in two lines.
std::string results_heading(const Machine &machine);
std::string results_table(const std::vector<BenchResult> &results);

}  // namespace lanecrypt::bench
