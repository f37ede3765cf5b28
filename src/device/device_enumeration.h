// Enumerates devices without loading their drivers into this process. A separate program,
// lanecrypt-probe, queries one driver each: a driver that hangs, aborts or crashes harms no other
// process. The answers are cached until the machine reboots, or until its drivers or their settings
// change.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "process/program.h"

namespace lanecrypt::device {

struct DeviceEnumeration {
  // In the order of the requested APIs. Opening a device loads its driver into this process.
  std::vector<Found> found;
  // For an API without devices: the reason, as a message for people, if more can be said.
  std::map<std::string, std::string> why_none;
};

// The time after which an enumeration is abandoned. The probes end themselves earlier.
constexpr std::chrono::seconds kEnumerationLimit{30};

// An enumeration in progress. Used by one thread at a time.
class DeviceEnumerator {
 public:
  // Starts to enumerate the devices of `apis`: takes cached answers and starts probes for the rest.
  // Never blocks. A set-user-ID process gets no devices.
  explicit DeviceEnumerator(const std::vector<std::string> &apis);
  ~DeviceEnumerator();
  DeviceEnumerator(const DeviceEnumerator &) = delete;

  // Waits at most `limit` for the probes; returns whether all have answered.
  bool wait(std::chrono::milliseconds limit);
  // Returns the result. A probe that has not answered yet is treated as hung.
  DeviceEnumeration take();

 private:
  struct Question;

  std::vector<std::unique_ptr<Question>> questions_;
};

// Enumerates in one call: waits for the probes, which end in bounded time.
DeviceEnumeration enumerate_devices(const std::vector<std::string> &apis);

// Starts lanecrypt-probe with these arguments. Returns nullptr if it cannot be started, for example
// in a set-user-ID process; `why` then has the reason.
std::unique_ptr<process::Program> start_probe(const std::vector<std::string> &words,
                                              std::string *why);

// Enumerates the devices of one API in this process, which loads its driver. This is what
// lanecrypt-probe does. An API that is not built in has no devices.
std::vector<Found> find_here(const std::string &api);
// The same for all APIs: cuda, opencl, gl, host, in this order.
std::vector<Found> find_all_here();
// Returns how many different openings of devices this process has made: a different device, set of
// kernels or outcome counts as different. The number is bounded, however often devices are opened.
size_t count_different_openings();
// Returns why find_here() found none; empty if no more can be said.
std::string why_none_here(const std::string &api);

// Convert to the text that the probe writes and the cache stores, and back. from_text() returns
// false if `text` was not made by to_text() of this version.
std::string to_text(const std::vector<Properties> &all);
bool from_text(const std::string &text, std::vector<Properties> *all);

}  // namespace lanecrypt::device
