// The state of a service, parsed from its answer to kStatistics.
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
    double bound = 0;    // upper bound of the values
    uint64_t count = 0;  // number of values up to `bound`, including those of smaller bounds
  };
  std::vector<Bucket> buckets;
  uint64_t count = 0;  // number of all values, including those beyond the last bound
  double sum = 0;

  // Returns the value that the fraction `share` of all values does not exceed, estimated from the
  // buckets. Nothing if there are no values, or if it is beyond the last bound.
  std::optional<double> quantile(double share) const;
};

// One kind of operation.
struct KindState {
  std::string kind;
  uint64_t done = 0;
  std::map<std::string, uint64_t> outcomes;  // number of operations that were not done, by reason
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

  // The device's state for the service, which runs only RSA: a device whose ciphers have not been
  // tested can run RSA nevertheless.
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
  std::optional<uint64_t> keys_at_fault_total;  // not reported by earlier releases
  uint64_t keys = 0, channels = 0, operations_waiting = 0, operations_under_way = 0;
  std::vector<KindState> kinds;
  std::vector<DeviceState> devices;
  std::vector<UserState> users;  // reported only to root and to the service's own user

  bool has_usable_device() const;
};

// Parses the JSON text of a service. The text is not trusted: throws Failure (kFailed) if a part is
// missing or malformed.
ServiceState parse_state(std::string_view text);

}  // namespace lanecrypt::cli
