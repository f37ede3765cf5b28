// How bench/service/*.py has many processes work in the same window of time: each says that it
// is ready, is told when the window begins and ends, works until then, and says what it did.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace lanecrypt::bench {

// CLOCK_MONOTONIC, which all processes share.
uint64_t now_ns();
// The CPU time of this process.
double cpu_seconds();
// Lets this process open as many files as its limits allow.
void raise_file_limit();

// A window of time. What ends within it counts.
struct Window {
  uint64_t begin_ns = 0, end_ns = 0;
  bool holds(uint64_t time_ns) const { return time_ns >= begin_ns && time_ns < end_ns; }
};

// How long operations took: counts by 1/16 of a power of two, in ns.
class Latencies {
 public:
  void add(uint64_t ns);
  void add(const Latencies &other);
  // [[bucket, count], ...] as JSON. A bucket begins at 2^(bucket / 16) ns.
  std::string json() const;

 private:
  std::array<uint64_t, 16 * 48> counts_{};
};

// The words NAME=VALUE of a command line. Ends the program if one has another form.
std::map<std::string, std::string> words_of(int count, char **words);

// Prints "ready". Then for each line "BEGIN END" of standard input it calls `work` and prints
// what that returns. Ends when standard input does.
int serve_windows(const std::function<std::string(const Window &)> &work);

}  // namespace lanecrypt::bench
