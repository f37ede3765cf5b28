// SPDX-License-Identifier: Apache-2.0
#include "bench/report/results.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/report/cpu_model.h"
#include "commit.h"

namespace lanecrypt::bench {
namespace {

std::string size_text(uint64_t bytes) {
  static constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    unit++;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

Spread measure_rate(const Patience &patience, double amount, const std::function<double()> &run) {
  const auto start = std::chrono::steady_clock::now();
  if (patience.warms_up) run();  // warms up caches, clocks and pages
  std::vector<double> rates;
  while (rates.size() < patience.runs) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (rates.size() >= patience.least_runs && spent.count() > patience.budget_seconds) break;
    rates.push_back(amount / run());
  }
  return spread_of(std::move(rates));
}

Spread measure_seconds(const Patience &patience, const std::function<double()> &run) {
  return measure_rate(patience, 1, [&] { return 1 / run(); });
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {median, values.front(), values.back(), static_cast<unsigned>(values.size())};
}

Machine this_machine() {
  Machine machine;
  machine.cpu = cpu_model();
  machine.cores = std::thread::hardware_concurrency();
  return machine;
}

nlohmann::ordered_json results_json(const Machine &machine,
                                    const std::vector<BenchResult> &results) {
  nlohmann::ordered_json json;
  json["machine"] = {{"gpu", machine.gpu},
                     {"driver", machine.driver},
                     {"cpu", machine.cpu},
                     {"cores", machine.cores}};
  json["date"] = today();
  json["software"] = {{"commit", LANECRYPT_COMMIT},
                      {"compiler", "g++ " __VERSION__},
                      {"openssl", OpenSSL_version(OPENSSL_VERSION)}};
  json["results"] = nlohmann::ordered_json::array();
  for (const BenchResult &result : results) {
    nlohmann::ordered_json entry = {{"name", result.name},      {"value", result.spread.median},
                                    {"unit", result.unit},      {"runs", result.spread.runs},
                                    {"min", result.spread.min}, {"max", result.spread.max}};
    if (result.bytes) entry["bytes"] = *result.bytes;
    if (result.streams) entry["streams"] = *result.streams;
    if (!result.clock.empty()) entry["clock"] = result.clock;
    if (result.over_openssl) entry["over_openssl"] = *result.over_openssl;
    if (result.published) entry["published"] = *result.published;
    if (result.cores_busy) entry["cores_busy"] = *result.cores_busy;
    if (result.gb_per_s) entry["gb_per_s"] = *result.gb_per_s;
    if (!result.load.empty()) entry["load"] = result.load;
    if (result.on_device) entry["on_device"] = *result.on_device;
    if (result.on_cpu) entry["on_cpu"] = *result.on_cpu;
    if (!result.series.empty()) entry["series"] = result.series;
    json["results"].push_back(std::move(entry));
  }
  return json;
}

std::string results_heading(const Machine &machine) {
  return fmt::format(
      "{}; {} cores of {}\n{}, commit {}, {}\n\n",
      machine.gpu.empty() ? "no device" : fmt::format("{} ({})", machine.gpu, machine.driver),
      machine.cores, machine.cpu, today(), LANECRYPT_COMMIT, OpenSSL_version(OPENSSL_VERSION));
}

std::string results_table(const std::vector<BenchResult> &results) {
  size_t width = 0;
  bool has_published = false, has_cores = false, has_job = false;
  for (const BenchResult &result : results) {
    width = std::max(width, result.name.size());
    has_published |= result.published.has_value();
    has_cores |= result.cores_busy.has_value();
    has_job |= result.gb_per_s.has_value();
  }
  const std::string more = std::string(has_published ? "  PUBLISHED" : "") +
                           (has_cores ? "  CORES BUSY" : "") + (has_job ? "  BESIDE GB/s" : "");
  std::string table =
      fmt::format("{:<{}}  {:>9}  {:>7}  {:>10}  {:>23}  {:>4}  {:>9}{}\n", "NAME", width, "SIZE",
                  "STREAMS", "MEDIAN", "LEAST..MOST", "RUNS", "x OPENSSL", more);
  for (const BenchResult &result : results)
    table += fmt::format(
        "{:<{}}  {:>9}  {:>7}  {:>10}  {:>23}  {:>4}  {:>9}{}{}{}\n", result.name, width,
        result.bytes ? size_text(*result.bytes) : "",
        result.streams ? std::to_string(*result.streams) : "",
        fmt::format("{:.4g} {}", result.spread.median, result.unit),
        fmt::format("{:.4g}..{:.4g}", result.spread.min, result.spread.max), result.spread.runs,
        result.over_openssl ? fmt::format("{:.3g}", *result.over_openssl) : "",
        result.published ? fmt::format("  {:>9.3g}", *result.published) : "",
        has_cores ? fmt::format("{:>12}",
                                result.cores_busy ? fmt::format("{:.2f}", *result.cores_busy) : "")
                  : "",
        result.gb_per_s ? fmt::format("  {:>11.3g}", *result.gb_per_s) : "");
  return table;
}

}  // namespace lanecrypt::bench
