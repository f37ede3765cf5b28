// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/report/report.h"

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "service/daemon/service.h"

namespace lanecrypt::service::daemon {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNanoseconds = 1e-9;
constexpr struct {
  Outcome outcome;
  const char *name;
} kOutcomes[] = {{Outcome::kBadInput, "bad_input"},      {Outcome::kBusy, "busy"},
                 {Outcome::kNoDevice, "no_device"},      {Outcome::kFailed, "failed"},
                 {Outcome::kBadKey, "bad_key"},          {Outcome::kUnknownKey, "unknown_key"},
                 {Outcome::kFaultSigned, "fault_signed"}};

template <class T>
T value_of(const std::atomic<T> &number) {
  return number.load(std::memory_order_relaxed);
}

// Writes a histogram with cumulative counts. The last bucket is left out: it has no bound, and
// `count` includes it.
Json histogram_json(const Histogram &histogram, double unit) {
  Json buckets = Json::array();
  uint64_t count = 0, in_all = 0;
  for (size_t n = 0; n < Histogram::kBuckets; ++n) in_all += histogram.count(n);
  for (size_t n = 0; n + 1 < Histogram::kBuckets; ++n) {
    count += histogram.count(n);
    Json bucket;
    if (unit == 1)
      bucket["le"] = histogram.bound(n);
    else
      bucket["le"] = double(histogram.bound(n)) * unit;
    bucket["count"] = count;
    buckets.push_back(std::move(bucket));
  }
  Json json;
  json["count"] = in_all;
  if (unit == 1)
    json["sum"] = histogram.sum();
  else
    json["sum"] = double(histogram.sum()) * unit;
  json["buckets"] = std::move(buckets);
  return json;
}

// Adds the counters of a kind, unless all its outcomes are 0.
void add_kind(Json &kinds, const KindCounters &kind, const std::string &name) {
  uint64_t any = 0;
  for (const std::atomic<uint64_t> &count : kind.outcomes) any += value_of(count);
  if (any == 0) return;
  Json json;
  json["kind"] = name;
  json["done"] = value_of(kind.outcomes[size_t(Outcome::kDone)]);
  Json outcomes;
  for (const auto &[outcome, its_name] : kOutcomes)
    outcomes[its_name] = value_of(kind.outcomes[size_t(outcome)]);
  json["outcomes"] = std::move(outcomes);
  json["batches"] = double(value_of(kind.batches)) / double(uint64_t{1} << 32);
  json["batch_operations"] = histogram_json(kind.batch_operations, 1);
  json["queue_seconds"] = histogram_json(kind.queue_time, kNanoseconds);
  json["device_seconds"] = histogram_json(kind.device_time, kNanoseconds);
  json["service_seconds"] = histogram_json(kind.service_time, kNanoseconds);
  kinds.push_back(std::move(json));
}

void add_rsa_kinds(Json &kinds, const std::array<KindCounters, StatusPage::kSizes> &all,
                   const char *what) {
  for (size_t size = 0; size < all.size(); ++size)
    add_kind(kinds, all[size], fmt::format("rsa-{}-{}", 256 * (size + 1), what));
}

const char *name_of(lc_device_state state) {
  switch (state) {
    case LC_DEVICE_UNTRIED:
      return "untried";
    case LC_DEVICE_READY:
      return "ready";
    case LC_DEVICE_UNUSABLE:
      return "unusable";
    case LC_DEVICE_LOST:
      break;
  }
  return "lost";
}

Json device_json(const DeviceReport &device) {
  Json json;
  json["id"] = device.info.id;
  json["name"] = device.info.name;
  json["state"] = name_of(device.info.state);
  json["rsa_state"] = name_of(device.info.rsa_state);
  json["ml_dsa_state"] = name_of(device.info.ml_dsa_state);
  json["slh_dsa_state"] = name_of(device.info.slh_dsa_state);
  json["reason"] = device.info.reason;
  json["memory_bytes"] = device.info.memory_bytes;
  json["memory_used_bytes"] = nullptr;
  if (device.card.memory_used_bytes) json["memory_used_bytes"] = *device.card.memory_used_bytes;
  json["temperature_celsius"] = nullptr;
  if (device.card.temperature_celsius)
    json["temperature_celsius"] = *device.card.temperature_celsius;
  json["launches"] = device.counters.launches;
  json["failures"] = device.counters.failures;
  json["operations"] = device.counters.operations;
  return json;
}

Json user_json(const User &user) {
  Json json;
  json["uid"] = user.number;
  json["clients"] = value_of(user.sessions);
  json["channels"] = value_of(user.channels);
  json["keys"] = value_of(user.keys);
  json["operations"] = value_of(user.operations);
  return json;
}

}  // namespace

std::string make_report(Service &service, const std::vector<std::shared_ptr<const User>> *users) {
  const Counters &counters = service.counters;
  const uint64_t under_way = value_of(counters.under_way);
  const uint64_t all = service.page.status().operations.load(std::memory_order_relaxed);
  Json json;
  json["version"] = lc_version();
  json["pid"] = getpid();
  json["uptime_seconds"] =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - service.started).count();
  json["clients"] = value_of(counters.sessions);
  json["clients_total"] = value_of(counters.sessions_total);
  json["clients_refused_total"] = value_of(counters.sessions_refused);
  json["keys"] = value_of(counters.keys);
  json["keys_at_fault_total"] = value_of(counters.keys_at_fault);
  json["key_bytes"] = value_of(service.key_bytes);
  json["channels"] = value_of(counters.channels);
  json["operations_waiting"] = all > under_way ? all - under_way : 0;
  json["operations_under_way"] = under_way;
  // The counts of the status page, which follow the states of the devices a little later.
  json["ml_dsa_devices"] = value_of(service.page.status().ml_dsa_devices);
  json["slh_dsa_devices"] = value_of(service.page.status().slh_dsa_devices);
  Json kinds = Json::array();
  add_rsa_kinds(kinds, counters.rsa_private, "private");
  add_rsa_kinds(kinds, counters.rsa_generate, "generate");
  for (size_t n = 0; n < kSignatureSetCount; ++n)
    add_kind(kinds, counters.sign[n], fmt::format("{}-sign", kSignatureSets[n].name));
  json["kinds"] = std::move(kinds);
  Json devices = Json::array();
  for (const DeviceReport &device : service.devices.report())
    devices.push_back(device_json(device));
  json["devices"] = std::move(devices);
  if (users != nullptr) {
    Json list = Json::array();
    for (const std::shared_ptr<const User> &user : *users) list.push_back(user_json(*user));
    json["users"] = std::move(list);
  }
  // A driver's texts may be invalid UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace lanecrypt::service::daemon
