// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "cli/service/report.h"
#include "process/printable.h"

namespace lanecrypt::cli {
namespace {

using Labels = std::vector<std::pair<std::string_view, std::string>>;

// Returns a label value escaped as OpenMetrics requires, with control characters made printable.
std::string escaped(const std::string &value) {
  std::string out;
  for (const char c : process::printable(value)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// Returns a bound in the form in which OpenMetrics writes a number with a fraction. The same bound
// must have the same text everywhere.
std::string bound_text(double bound) {
  const std::string text = fmt::format("{}", bound);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string in_braces(const Labels &labels) {
  std::string out;
  for (const auto &[name, value] : labels)
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "{" : ",", name, escaped(value));
  return out.empty() ? out : out + "}";
}

// One metric family: its metadata and its samples, which must be contiguous in the text.
class Family {
 public:
  // `type` is counter, gauge or histogram. `unit` is "" for counts; otherwise the name ends with
  // it.
  Family(std::string_view name, std::string_view type, std::string_view unit, std::string_view help)
      : name_(name), suffix_(type == "counter" ? "_total" : "") {
    text_ = fmt::format("# TYPE {} {}\n", name, type);
    if (!unit.empty()) text_ += fmt::format("# UNIT {} {}\n", name, unit);
    text_ += fmt::format("# HELP {} {}\n", name, help);
  }

  template <typename Number>
  Family &add(const Labels &labels, Number value) {
    text_ += fmt::format("{}{}{} {}\n", name_, suffix_, in_braces(labels), value);
    return *this;
  }

  Family &add(const Labels &labels, const Histogram &histogram) {
    const auto bucket = [&](const std::string &bound, uint64_t count) {
      Labels all = labels;
      all.emplace_back("le", bound);
      text_ += fmt::format("{}_bucket{} {}\n", name_, in_braces(all), count);
    };
    for (const Histogram::Bucket &one : histogram.buckets) bucket(bound_text(one.bound), one.count);
    bucket("+Inf", histogram.count);
    text_ += fmt::format("{}_sum{} {}\n", name_, in_braces(labels), histogram.sum);
    text_ += fmt::format("{}_count{} {}\n", name_, in_braces(labels), histogram.count);
    return *this;
  }

  const std::string &text() const { return text_; }

 private:
  std::string_view name_, suffix_;
  std::string text_;
};

std::string of_service(const ServiceState &state) {
  return Family("lanecrypt_service_info", "gauge", "", "Which release the service is.")
             .add({{"version", state.version}}, 1)
             .text() +
         Family("lanecrypt_service_uptime_seconds", "gauge", "seconds", "How long it has run.")
             .add({}, state.uptime_seconds)
             .text() +
         Family("lanecrypt_clients", "gauge", "", "Processes that are connected.")
             .add({}, state.clients)
             .text() +
         Family("lanecrypt_clients_connected", "counter", "", "Processes that have connected.")
             .add({}, state.clients_total)
             .text() +
         Family("lanecrypt_clients_refused", "counter", "", "Processes that were turned away.")
             .add({}, state.clients_refused_total)
             .text() +
         Family("lanecrypt_keys", "gauge", "", "Keys that clients have left with the service.")
             .add({}, state.keys)
             .text() +
         Family("lanecrypt_channels", "gauge", "", "Channels that clients have.")
             .add({}, state.channels)
             .text() +
         Family("lanecrypt_operations_waiting", "gauge", "", "Operations that wait.")
             .add({}, state.operations_waiting)
             .text() +
         Family("lanecrypt_operations_under_way", "gauge", "", "Operations on devices.")
             .add({}, state.operations_under_way)
             .text();
}

std::string of_faults(const ServiceState &state) {
  if (!state.keys_at_fault_total) return "";
  return Family("lanecrypt_keys_at_fault", "counter", "",
                "Keys whose results were wrong on the CPU too.")
      .add({}, *state.keys_at_fault_total)
      .text();
}

std::string of_kinds(const std::vector<KindState> &kinds) {
  Family operations("lanecrypt_operations", "counter", "",
                    "Operations by outcome. All but done were left to the client's CPU.");
  Family batches("lanecrypt_batches", "counter", "", "Launches on devices.");
  Family batch_operations("lanecrypt_batch_operations", "histogram", "", "Operations of a batch.");
  Family queue("lanecrypt_queue_seconds", "histogram", "seconds",
               "From the arrival of an operation to its launch.");
  Family device("lanecrypt_device_seconds", "histogram", "seconds", "The time of a launch.");
  Family service("lanecrypt_service_seconds", "histogram", "seconds",
                 "From the arrival of an operation to its answer.");
  for (const KindState &kind : kinds) {
    const Labels labels = {{"kind", kind.kind}};
    operations.add({labels[0], {"outcome", "done"}}, kind.done);
    for (const auto &[outcome, count] : kind.outcomes)
      operations.add({labels[0], {"outcome", outcome}}, count);
    batches.add(labels, kind.batches);
    batch_operations.add(labels, kind.batch_operations);
    queue.add(labels, kind.queue_seconds);
    device.add(labels, kind.device_seconds);
    service.add(labels, kind.service_seconds);
  }
  return operations.text() + batches.text() + batch_operations.text() + queue.text() +
         device.text() + service.text();
}

std::string of_devices(const std::vector<DeviceState> &devices) {
  Family ready("lanecrypt_device_ready", "gauge", "", "1: the device is open and works.");
  Family memory("lanecrypt_device_memory_bytes", "gauge", "bytes", "The device's memory.");
  Family used("lanecrypt_device_memory_used_bytes", "gauge", "bytes",
              "What all programs use of the device's memory.");
  Family temperature("lanecrypt_device_temperature_celsius", "gauge", "celsius",
                     "The device's temperature.");
  Family launches("lanecrypt_device_launches", "counter", "", "Launches on the device.");
  Family failures("lanecrypt_device_failures", "counter", "",
                  "Operations that the device failed to do, or did wrong.");
  Family operations("lanecrypt_device_operations", "counter", "",
                    "Operations that the device did.");
  for (const DeviceState &device : devices) {
    const Labels labels = {{"device", device.id}};
    ready.add({labels[0], {"name", device.name}}, int(device.is_usable()));
    memory.add(labels, device.memory_bytes);
    if (device.memory_used_bytes) used.add(labels, *device.memory_used_bytes);
    if (device.temperature_celsius) temperature.add(labels, *device.temperature_celsius);
    launches.add(labels, device.launches);
    failures.add(labels, device.failures);
    operations.add(labels, device.operations);
  }
  return ready.text() + memory.text() + used.text() + temperature.text() + launches.text() +
         failures.text() + operations.text();
}

std::string of_users(const std::vector<UserState> &users) {
  Family clients("lanecrypt_user_clients", "gauge", "", "Processes of the user.");
  Family channels("lanecrypt_user_channels", "gauge", "", "Channels of the user.");
  Family keys("lanecrypt_user_keys", "gauge", "", "Keys of the user.");
  Family operations("lanecrypt_user_operations", "gauge", "",
                    "Operations of the user that wait or are under way.");
  for (const UserState &user : users) {
    const Labels labels = {{"uid", std::to_string(user.uid)}};
    clients.add(labels, user.clients);
    channels.add(labels, user.channels);
    keys.add(labels, user.keys);
    operations.add(labels, user.operations);
  }
  return clients.text() + channels.text() + keys.text() + operations.text();
}

}  // namespace

std::string metrics_text(const ServiceState *state) {
  std::string text = Family("lanecrypt_service_up", "gauge", "", "1: the service answers.")
                         .add({}, int(state != nullptr))
                         .text();
  if (state != nullptr)
    text += of_service(*state) + of_faults(*state) + of_kinds(state->kinds) +
            of_devices(state->devices) + of_users(state->users);
  return text + "# EOF\n";
}

}  // namespace lanecrypt::cli
