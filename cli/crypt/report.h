// What a run did, for people and for programs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/crypt/device_engine.h"

namespace lanecrypt::cli {

struct Report {
  std::string cipher, direction;
  uint64_t bytes = 0;         // of data read, without the salt's header
  uint64_t output_bytes = 0;  // written, with it
  double seconds = 0;         // from the opened input to the named output
  double start_seconds = 0;   // of them until a device was open and had passed its self-test
  double cpu_seconds = 0;     // of all threads of the process, in user and system
  uint64_t device_bytes = 0, cpu_bytes = 0;
  std::vector<DeviceUse> devices;
  std::string input_io, output_io;  // "threads", "ring" or "direct"
  std::string note;                 // why it ran where it ran, where that is not plain
};

// One line for a person.
std::string to_text(const Report &report);
// One line of JSON.
std::string to_json(const Report &report);
// Processor time of this process so far.
double process_cpu_seconds();

}  // namespace lanecrypt::cli
