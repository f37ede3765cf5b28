// Which devices there are, without their drivers in this process. A program of its own,
// lanecrypt-probe, asks a driver, one for each API: a driver that hangs, aborts or
// crashes takes nobody with it. What it says is kept, and holds until the machine starts
// anew, or its drivers or their settings change.
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
  // In the order of the APIs asked for. To open one loads its driver into this process.
  std::vector<Found> found;
  // Of an API without a device: why, in words for a person, where there is more to say.
  std::map<std::string, std::string> why_none;
};

// The programs of an enumeration end themselves before; nothing need wait for longer.
constexpr std::chrono::seconds kEnumerationLimit{30};

// An enumeration under way. One thread at a time.
class DeviceEnumerator {
 public:
  // Asks for the devices of these APIs: what is kept, and programs for the rest. It never
  // waits. A set-user-ID process has no devices.
  explicit DeviceEnumerator(const std::vector<std::string> &apis);
  ~DeviceEnumerator();
  DeviceEnumerator(const DeviceEnumerator &) = delete;

  // Whether all have answered, within this time.
  bool wait(std::chrono::milliseconds limit);
  // What has been heard. A program that has not answered yet counts as one that hangs.
  DeviceEnumeration take();

 private:
  struct Question;

  std::vector<std::unique_ptr<Question>> questions_;
};

// All in one call: waits for the programs, which end in bounded time.
DeviceEnumeration enumerate_devices(const std::vector<std::string> &apis);

// Starts lanecrypt-probe with these words. nullptr where it cannot be started, as in a
// set-user-ID process; `why` says why.
std::unique_ptr<process::Program> start_probe(const std::vector<std::string> &words,
                                              std::string *why);

// The devices of one API, asked for in this process: loads its driver. What
// lanecrypt-probe does. An API that is not here finds nothing.
std::vector<Found> find_here(const std::string &api);
// The same of all APIs, cuda first, then opencl, gl, and host.
std::vector<Found> find_all_here();
// How many different openings of those devices this process has made: of different devices or
// kernels, or with a different outcome. It is bounded, however often devices are opened.
size_t count_different_openings();
// Why that found none; empty where there is no more to say.
std::string why_none_here(const std::string &api);

// As text, for the program to say and for the cache to keep.
std::string to_text(const std::vector<Properties> &all);
// False where it is no text of this version's to_text().
bool from_text(const std::string &text, std::vector<Properties> *all);

}  // namespace lanecrypt::device
