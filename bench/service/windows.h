// The protocol by which bench/service/*.py makes many processes work in the same window of time:
// each process says that it is ready, is told when the window begins and ends, works until then,
// and reports what it did.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace lanecrypt::bench {

// CLOCK_MONOTONIC, which is the same for all processes.
uint64_t now_ns();
// The CPU time of this process.
double cpu_seconds();
// Raises the soft limit of open files to the hard limit.
void raise_file_limit();

// A window of time. An operation counts if it ends within it.
struct Window {
  uint64_t begin_ns = 0, end_ns = 0;
  bool holds(uint64_t time_ns) const { return time_ns >= begin_ns && time_ns < end_ns; }
};

// A histogram of latencies in ns. A bucket is 1/16 of a power of two wide.
class Latencies {
 public:
  void add(uint64_t ns);
  void add(const Latencies &other);
  // [[bucket, count], ...] as JSON. A bucket begins at 2^(bucket / 16) ns.
  std::string json() const;

 private:
  std::array<uint64_t, 16 * 48> counts_{};
};

// Parses NAME=VALUE arguments. Ends the program if one has another form.
std::map<std::string, std::string> words_of(int count, char **words);

// Prints "ready". Then, for each line "BEGIN END" of standard input, calls `work` and prints the
// string that it returns. Returns at the end of standard input.
int serve_windows(const std::function<std::string(const Window &)> &work);

}  // namespace lanecrypt::bench
