// Lets bench/service/*.py run many processes in the same window of time: each process says that it
// is ready, reads when the window begins and ends, works until then, and reports what it did.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace lanecrypt::bench {

// Returns the time of CLOCK_MONOTONIC, which all processes share.
uint64_t now_ns();
// Returns the CPU time of this process.
double cpu_seconds();
// Raises the soft limit of open files to the hard limit.
void raise_file_limit();

// A window of time. An operation counts if it completes within it.
struct Window {
  uint64_t begin_ns = 0, end_ns = 0;
  bool holds(uint64_t time_ns) const { return time_ns >= begin_ns && time_ns < end_ns; }
};

// A histogram of the times of operations in ns; 16 buckets per power of two.
class Latencies {
 public:
  void add(uint64_t ns);
  void add(const Latencies &other);
  // Returns [[bucket, count], ...] as JSON. A bucket begins at 2^(bucket / 16) ns.
  std::string json() const;

 private:
  std::array<uint64_t, 16 * 48> counts_{};
};

// Returns the words NAME=VALUE of a command line. Exits if a word has another form.
std::map<std::string, std::string> words_of(int count, char **words);

// Prints "ready". Then, for each line "BEGIN END" of standard input, calls `work` and prints its
// result. Returns at the end of standard input.
int serve_windows(const std::function<std::string(const Window &)> &work);

}  // namespace lanecrypt::bench
