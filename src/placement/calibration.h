// The times that one device and the cores of this machine were measured to take, as plain
// data. They are kept as text in the cache, by machine, device and version.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "job/cipher/cipher_job.h"

namespace lanecrypt::placement {

// One point: `streams` messages of one kind, in place, `bytes` in all, handed over in
// one call with nothing else under way.
struct Point {
  CipherKind kind;
  bool pinned;  // pinned memory; otherwise ordinary
  uint32_t streams;
  uint64_t bytes;
  uint64_t device_ns;      // until the call was over
  uint64_t device_cpu_ns;  // CPU time of all this process's threads meanwhile
  uint64_t cpu_ns;         // the same by OpenSSL on one core
  uint64_t cores_ns = 0;   // on several cores; 0: these do not share such work, or there is one

  bool operator==(const Point &) const = default;
};

struct Calibration {
  // The machine and the device that it holds for. On any other it is not found.
  std::string machine, device;
  bool is_quick = true;
  // Points of one kind, memory and number of streams stand together, by size.
  std::vector<Point> points;

  bool operator==(const Calibration &) const = default;
};

// The CPU's model and how many cores this process may use.
std::string describe_machine();

std::string to_text(const Calibration &calibration);
// nullopt if this version's to_text() did not write the text.
std::optional<Calibration> from_text(const std::string &text);

// Read from and write to the cache. What cannot be kept is measured again.
std::optional<Calibration> load(const std::string &machine, const std::string &device);
void store(const Calibration &calibration);

}  // namespace lanecrypt::placement
