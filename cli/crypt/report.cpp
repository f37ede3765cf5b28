// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/report.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "cli/progress_line.h"

namespace lanecrypt::cli {

std::string to_text(const Report &report) {
  std::string text = fmt::format(
      "{} in {:.2f} s ({:.2f} GB/s, {:.2f} s of CPU time), on {}",
      format_amount(report.bytes, std::nullopt), report.seconds,
      report.seconds > 0 ? static_cast<double>(report.bytes) / report.seconds / 1e9 : 0.0,
      report.cpu_seconds, report.devices.empty() ? "the CPU" : report.devices.front().id);
  for (size_t i = 1; i < report.devices.size(); i++) text += ", " + report.devices[i].id;
  if (!report.devices.empty() && report.cpu_bytes > 0)
    text += fmt::format(" ({} of it on the CPU)", format_amount(report.cpu_bytes, std::nullopt));
  if (!report.note.empty()) text += fmt::format(" ({})", report.note);
  return text;
}

std::string to_json(const Report &report) {
  nlohmann::ordered_json json;
  json["cipher"] = report.cipher;
  json["direction"] = report.direction;
  json["bytes"] = report.bytes;
  json["output_bytes"] = report.output_bytes;
  json["seconds"] = report.seconds;
  json["start_seconds"] = report.start_seconds;
  json["gb_per_s"] =
      report.seconds > 0 ? static_cast<double>(report.bytes) / report.seconds / 1e9 : 0.0;
  const double moving_seconds = report.seconds - report.start_seconds;
  json["gb_per_s_once_started"] =
      moving_seconds > 0 ? static_cast<double>(report.bytes) / moving_seconds / 1e9 : 0.0;
  json["cpu_seconds"] = report.cpu_seconds;
  json["device"] = report.devices.empty() ? "cpu" : report.devices.front().id;
  json["device_name"] = report.devices.empty() ? "CPU" : report.devices.front().name;
  json["device_bytes"] = report.device_bytes;
  json["cpu_bytes"] = report.cpu_bytes;
  json["devices"] = nlohmann::ordered_json::array();
  for (const DeviceUse &use : report.devices)
    json["devices"].push_back({{"id", use.id}, {"name", use.name}, {"bytes", use.bytes}});
  json["input_io"] = report.input_io;
  json["output_io"] = report.output_io;
  if (!report.note.empty()) json["note"] = report.note;
  // The driver provides the device's name. Invalid UTF-8 in it must not make the report fail.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

double process_cpu_seconds() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace lanecrypt::cli
