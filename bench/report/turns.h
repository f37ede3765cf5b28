// Measures several ways to do the same work on the same data, in turn.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/report/log.h"

namespace lanecrypt::bench {

// Calls run(round, who) for each `who` in each round, in alternating order, so that drift, such
// as of a clock frequency, affects all alike.
void in_turn(unsigned rounds, size_t count,
             const std::function<void(unsigned round, size_t who)> &run);

// One of several ways to do the same work.
struct Contender {
  std::string name;               // of its rows
  uint64_t bytes;                 // of a run
  std::function<void()> run;      // the measured work
  std::function<void()> check;    // after each run; throws if the output is wrong
  std::function<void()> prepare;  // before each run; this and `check` may be empty
  // The seconds until the submit call of the last run returned. May be empty.
  std::function<double()> submit_seconds{};
};

// Runs each contender once without measuring and then `runs` times. The CPU time of child
// processes that have been waited for counts too. For each contender adds the row of its name
// (GB/s, with the number of cores that the process kept busy and the ratio to the first contender
// named `.openssl`), `.cpu` (CPU time in ms/GB) and, if it has `submit_seconds`, `.submit` (ms
// per run). A contender whose device does not support the work is named on stderr and left out.
void measure_contenders(const std::vector<Contender> &contenders, unsigned runs,
                        std::optional<uint64_t> streams, BenchLog &log);

}  // namespace lanecrypt::bench
