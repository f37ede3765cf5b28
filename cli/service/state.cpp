// SPDX-License-Identifier: Apache-2.0
#include "cli/service/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

using Json = nlohmann::json;

// The greatest nesting depth that is accepted.
constexpr int kMostDepth = 8;
// The greatest length of a list that is accepted.
constexpr size_t kMostEntries = 100'000;

[[noreturn]] void is_wrong(const std::string &what) {
  throw Failure(ExitCode::kFailed, "the service's answer has " + what);
}

const Json &part(const Json &object, const char *name) {
  const auto found = object.find(name);
  if (found == object.end()) is_wrong(fmt::format("no '{}'", name));
  return *found;
}

void take(const Json &object, const char *name, uint64_t &value) {
  const Json &json = part(object, name);
  if (!json.is_number_unsigned()) is_wrong(fmt::format("a '{}' that is no count", name));
  value = json.get<uint64_t>();
}

void take(const Json &object, const char *name, double &value) {
  const Json &json = part(object, name);
  if (!json.is_number() || !(json.get<double>() >= 0) || !std::isfinite(json.get<double>()))
    is_wrong(fmt::format("a '{}' that is no amount", name));
  value = json.get<double>();
}

void take(const Json &object, const char *name, std::string &value) {
  const Json &json = part(object, name);
  if (!json.is_string()) is_wrong(fmt::format("a '{}' that is no text", name));
  value = json.get<std::string>();
}

// Leaves `value` empty for null, which means unknown.
template <typename Value>
void take(const Json &object, const char *name, std::optional<Value> &value) {
  if (part(object, name).is_null()) return;
  Value known{};
  take(object, name, known);
  value = known;
}

const Json &object_in(const Json &object, const char *name) {
  const Json &json = part(object, name);
  if (!json.is_object()) is_wrong(fmt::format("a '{}' that is no object", name));
  return json;
}

// Reads a list of objects.
template <typename Entry>
std::vector<Entry> list_in(const Json &object, const char *name, Entry (*read)(const Json &)) {
  const Json &json = part(object, name);
  if (!json.is_array() || json.size() > kMostEntries)
    is_wrong(fmt::format("a '{}' that is no list", name));
  std::vector<Entry> list;
  for (const Json &entry : json) {
    if (!entry.is_object()) is_wrong(fmt::format("a '{}' with an entry that is no object", name));
    list.push_back(read(entry));
  }
  return list;
}

Histogram::Bucket read_bucket(const Json &json) {
  Histogram::Bucket bucket;
  take(json, "le", bucket.bound);
  take(json, "count", bucket.count);
  return bucket;
}

void take(const Json &object, const char *name, Histogram &histogram) {
  const Json &json = object_in(object, name);
  take(json, "count", histogram.count);
  take(json, "sum", histogram.sum);
  histogram.buckets = list_in(json, "buckets", read_bucket);
  const auto not_before = [](const Histogram::Bucket &one, const Histogram::Bucket &next) {
    return one.bound >= next.bound || one.count > next.count;
  };
  const auto &buckets = histogram.buckets;
  if (std::adjacent_find(buckets.begin(), buckets.end(), not_before) != buckets.end() ||
      (!buckets.empty() && buckets.back().count > histogram.count))
    is_wrong(fmt::format("a '{}' that does not ascend", name));
}

// Rejects names with unexpected characters, because they are printed and become labels of metrics.
void check_name(const std::string &name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  if (name.empty() || name.find_first_not_of(kLetters) != std::string::npos)
    is_wrong("a name that is none");
}

KindState read_kind(const Json &json) {
  KindState kind;
  take(json, "kind", kind.kind);
  check_name(kind.kind);
  take(json, "done", kind.done);
  const Json &outcomes = object_in(json, "outcomes");
  for (const auto &entry : outcomes.items()) {
    check_name(entry.key());
    take(outcomes, entry.key().c_str(), kind.outcomes[entry.key()]);
  }
  take(json, "batches", kind.batches);
  take(json, "batch_operations", kind.batch_operations);
  take(json, "queue_seconds", kind.queue_seconds);
  take(json, "device_seconds", kind.device_seconds);
  take(json, "service_seconds", kind.service_seconds);
  return kind;
}

DeviceState read_device(const Json &json) {
  DeviceState device;
  take(json, "id", device.id);
  take(json, "name", device.name);
  take(json, "state", device.state);
  take(json, "rsa_state", device.rsa_state);
  take(json, "reason", device.reason);
  take(json, "memory_bytes", device.memory_bytes);
  take(json, "memory_used_bytes", device.memory_used_bytes);
  take(json, "temperature_celsius", device.temperature_celsius);
  take(json, "launches", device.launches);
  take(json, "failures", device.failures);
  take(json, "operations", device.operations);
  return device;
}

UserState read_user(const Json &json) {
  UserState user;
  take(json, "uid", user.uid);
  take(json, "clients", user.clients);
  take(json, "channels", user.channels);
  take(json, "keys", user.keys);
  take(json, "operations", user.operations);
  return user;
}

Json parse(std::string_view text) {
  bool is_deep = false;
  const auto look = [&](int depth, Json::parse_event_t, Json &) {
    is_deep |= depth > kMostDepth;
    return !is_deep;
  };
  Json json = Json::parse(text, look, false);
  if (is_deep || !json.is_object()) is_wrong("a form that is not known");
  return json;
}

}  // namespace

std::optional<double> Histogram::quantile(double share) const {
  const double rank = share * double(count);
  if (count == 0) return std::nullopt;
  double below_bound = 0;
  uint64_t below = 0;
  for (const Bucket &bucket : buckets) {
    if (double(bucket.count) >= rank && bucket.count > below) {
      // Assumes that the values of a bucket are spread evenly.
      const double part_of_bucket = (rank - double(below)) / double(bucket.count - below);
      return below_bound + (bucket.bound - below_bound) * part_of_bucket;
    }
    below_bound = bucket.bound;
    below = bucket.count;
  }
  return std::nullopt;
}

uint64_t KindState::not_done() const {
  uint64_t sum = 0;
  for (const auto &[reason, count] : outcomes) sum += count;
  return sum;
}

bool ServiceState::has_usable_device() const {
  return std::any_of(devices.begin(), devices.end(),
                     [](const DeviceState &device) { return device.is_usable(); });
}

ServiceState parse_state(std::string_view text) {
  const Json json = parse(text);
  ServiceState state;
  take(json, "version", state.version);
  take(json, "pid", state.pid);
  take(json, "uptime_seconds", state.uptime_seconds);
  take(json, "clients", state.clients);
  take(json, "clients_total", state.clients_total);
  take(json, "clients_refused_total", state.clients_refused_total);
  take(json, "keys", state.keys);
  if (json.contains("keys_at_fault_total"))
    take(json, "keys_at_fault_total", state.keys_at_fault_total.emplace());
  take(json, "channels", state.channels);
  take(json, "operations_waiting", state.operations_waiting);
  take(json, "operations_under_way", state.operations_under_way);
  state.kinds = list_in(json, "kinds", read_kind);
  state.devices = list_in(json, "devices", read_device);
  if (json.contains("users")) state.users = list_in(json, "users", read_user);
  return state;
}

}  // namespace lanecrypt::cli
