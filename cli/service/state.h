// What a service tells of itself: the answer to kStatistics, read.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanecrypt::cli {

struct Histogram {
  struct Bucket {
    double bound = 0;    // of values up to this
    uint64_t count = 0;  // so many, those of smaller bounds included
  };
  std::vector<Bucket> buckets;
  uint64_t count = 0;  // of all, also beyond the last bound
  double sum = 0;

  // The value that this share of all does not exceed, as far as the buckets tell. Nothing if
  // there is none, or if it lies beyond the last bound.
  std::optional<double> quantile(double share) const;
};

// One kind of operation.
struct KindState {
  std::string kind;
  uint64_t done = 0;
  std::map<std::string, uint64_t> outcomes;  // of what was not done, by the reason
  double batches = 0;
  Histogram batch_operations, queue_seconds, device_seconds, service_seconds;

  uint64_t not_done() const;
};

struct DeviceState {
  std::string id, name, state, rsa_state, reason;
  uint64_t memory_bytes = 0;
  std::optional<uint64_t> memory_used_bytes;
  std::optional<double> temperature_celsius;
  uint64_t launches = 0, failures = 0, operations = 0;

  // What it is to the service, which does RSA alone: a device whose ciphers nobody has tried
  // does RSA all the same.
  const std::string &service_state() const { return is_gone() ? state : rsa_state; }
  bool is_usable() const { return service_state() == "ready"; }

 private:
  bool is_gone() const { return state == "lost" || state == "unusable"; }
};

struct UserState {
  uint64_t uid = 0, clients = 0, channels = 0, keys = 0, operations = 0;
};

struct ServiceState {
  std::string version;
  uint64_t pid = 0;
  double uptime_seconds = 0;
  uint64_t clients = 0, clients_total = 0, clients_refused_total = 0;
  std::optional<uint64_t> keys_at_fault_total;  // a service of an earlier release does not tell
  uint64_t keys = 0, channels = 0, operations_waiting = 0, operations_under_way = 0;
  std::vector<KindState> kinds;
  std::vector<DeviceState> devices;
  std::vector<UserState> users;  // told to root and to the service's own user alone

  bool has_usable_device() const;
};

// Reads a text of whatever the service is. Throws Failure (kFailed) where a part is missing or
// of another form.
ServiceState parse_state(std::string_view text);

}  // namespace lanecrypt::cli
