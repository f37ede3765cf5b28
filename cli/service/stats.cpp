// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cli/service/report.h"

namespace lanecrypt::cli {
namespace {

constexpr size_t kColumns = 8;
using Row = std::array<std::string, kColumns>;

std::string time_text(double seconds) {
  if (seconds < 0.9995e-3) return fmt::format("{:.0f} us", 1e6 * seconds);
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} s", seconds);
}

std::string count_text(double count) { return fmt::format("{:.0f}", count); }

// Returns the median and the 99th percentile. A value beyond the last bound is printed as ">
// bound".
std::string spread(const Histogram &histogram, std::string (*text)(double)) {
  if (histogram.count == 0) return "-";
  std::string out;
  for (const double share : {0.5, 0.99}) {
    const std::optional<double> value = histogram.quantile(share);
    const double last = histogram.buckets.empty() ? 0 : histogram.buckets.back().bound;
    out += out.empty() ? "" : " / ";
    out += value ? text(*value) : "> " + text(last);
  }
  return out;
}

Row row_of(const KindState &kind) {
  return {kind.kind,
          std::to_string(kind.done),
          std::to_string(kind.not_done()),
          count_text(kind.batches),
          spread(kind.batch_operations, count_text),
          spread(kind.queue_seconds, time_text),
          spread(kind.device_seconds, time_text),
          spread(kind.service_seconds, time_text)};
}

}  // namespace

std::string stats_text(const ServiceState &state) {
  if (state.kinds.empty()) return "No operation has come yet.\n";
  std::vector<Row> rows = {{"KIND", "DONE", "NOT DONE", "BATCHES", "IN A BATCH", "IN THE QUEUE",
                            "ON THE DEVICE", "IN ALL"}};
  for (const KindState &kind : state.kinds) rows.push_back(row_of(kind));
  std::array<size_t, kColumns> widths{};
  for (const Row &row : rows)
    for (size_t column = 0; column < kColumns; ++column)
      widths[column] = std::max(widths[column], row[column].size());
  std::string text;
  for (const Row &row : rows) {
    std::string line = fmt::format("{:<{}}", row[0], widths[0]);
    for (size_t column = 1; column < kColumns; ++column)
      line += fmt::format("  {:>{}}", row[column], widths[column]);
    text += line + "\n";
  }
  text += "The last four columns have the median and the 99th percentile.\n";
  for (const KindState &kind : state.kinds)
    for (const auto &[reason, count] : kind.outcomes)
      if (count > 0)
        text += fmt::format("{}: {} left to the client's CPU: {}\n", kind.kind, count, reason);
  return text;
}

}  // namespace lanecrypt::cli
