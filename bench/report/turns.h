// Measures several ways of doing the same with the same data, in turn.
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

// Calls run(round, who) in each round, in alternating order, so that drift, such as of a clock,
// affects all alike.
void in_turn(unsigned rounds, size_t count,
             const std::function<void(unsigned round, size_t who)> &run);

// One of several contenders that do the same.
struct Contender {
  std::string name;               // the name of its rows
  uint64_t bytes;                 // bytes of a run
  std::function<void()> run;      // the measured part
  std::function<void()> check;    // called after each run; throws if the output is wrong
  std::function<void()> prepare;  // called before each run; `check` and `prepare` may be empty
  // Returns the seconds until the caller of the last run could continue. May be empty.
  std::function<double()> submit_seconds{};
};

// Runs each contender once without measuring, and then `runs` times. The CPU time of child
// processes that were waited for counts too. Adds these rows: the name (GB/s, with the number of
// cores that the process kept busy, and the ratio to the first contender named `.openssl`), `.cpu`
// (the process's CPU time, in ms/GB) and, for contenders that report it, `.submit` (ms of a run).
// If a contender's device does not support the work, it is named on standard error and left out.
void measure_contenders(const std::vector<Contender> &contenders, unsigned runs,
                        std::optional<uint64_t> streams, BenchLog &log);

}  // namespace lanecrypt::bench
