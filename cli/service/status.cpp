// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "cli/service/report.h"
#include "process/printable.h"

namespace lanecrypt::cli {
namespace {

std::string gib(uint64_t bytes) { return fmt::format("{:.1f}", double(bytes) / (1 << 30)); }

std::string duration(double seconds) {
  const auto minutes = uint64_t(std::min(seconds, 1e12) / 60);
  if (minutes == 0) return fmt::format("{:.0f} s", seconds);
  if (minutes < 60) return fmt::format("{} min", minutes);
  if (minutes < 48 * 60) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  return fmt::format("{} days", minutes / (24 * 60));
}

std::string since(const ServiceState &state, int64_t now) {
  const std::time_t start = now - int64_t(std::min(state.uptime_seconds, double(now)));
  std::tm local{};
  localtime_r(&start, &local);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}, {}", local, duration(state.uptime_seconds));
}

std::string device_text(const DeviceState &device) {
  std::string text =
      fmt::format("device:     {}, {}: {}", process::printable(device.id),
                  process::printable(device.name), process::printable(device.service_state()));
  if (device.memory_used_bytes)
    text += fmt::format("; {} of {} GiB used", gib(*device.memory_used_bytes),
                        gib(device.memory_bytes));
  if (device.temperature_celsius) text += fmt::format("; {:.0f} °C", *device.temperature_celsius);
  text += fmt::format("; {} operations in {} launches, {} failures\n", device.operations,
                      device.launches, device.failures);
  if (!device.reason.empty())
    text += fmt::format("            {}\n", process::printable(device.reason));
  return text;
}

}  // namespace

std::string status_text(const ServiceState &state, const std::string &socket, int64_t now) {
  uint64_t done = 0, not_done = 0;
  for (const KindState &kind : state.kinds) {
    done += kind.done;
    not_done += kind.not_done();
  }
  std::string text = fmt::format(
      "lanecryptd {}, process {}, at {}\n"
      "since:      {}\n"
      "clients:    {} now, {} in all, {} refused; {} keys, {} channels\n"
      "operations: {} done, {} left to clients' CPUs; {} waiting, {} under way\n",
      process::printable(state.version), state.pid, socket, since(state, now), state.clients,
      state.clients_total, state.clients_refused_total, state.keys, state.channels, done, not_done,
      state.operations_waiting, state.operations_under_way);
  for (const DeviceState &device : state.devices) text += device_text(device);
  if (state.devices.empty()) text += "device:     none\n";
  for (const UserState &user : state.users)
    text += fmt::format("user {}: {} clients, {} channels, {} keys, {} operations\n", user.uid,
                        user.clients, user.channels, user.keys, user.operations);
  return text;
}

}  // namespace lanecrypt::cli
