// The report of a run, as text or JSON.
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
  uint64_t bytes = 0;         // of data read, without the salt header
  uint64_t output_bytes = 0;  // bytes written, with the salt header
  double seconds = 0;         // from opening the input to the output having its final name
  double start_seconds = 0;   // the part of `seconds` until a device was open and had passed its
                              // self-test
  double cpu_seconds = 0;     // user and system time of all threads of the process
  uint64_t device_bytes = 0, cpu_bytes = 0;
  std::vector<DeviceUse> devices;
  std::string input_io, output_io;  // "threads", "ring" or "direct"
  std::string note;                 // why it ran where it did, if that is not obvious
};

// Returns one line of text.
std::string to_text(const Report &report);
// Returns one line of JSON.
std::string to_json(const Report &report);
// Returns the CPU time of this process so far.
double process_cpu_seconds();

}  // namespace lanecrypt::cli
