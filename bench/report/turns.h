// Measures several ways to do the same with the same data, in turn.
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

// Calls run(round, who), round by round, in alternating order. So drift, such as of a
// clock, affects all alike.
void in_turn(unsigned rounds, size_t count,
             const std::function<void(unsigned round, size_t who)> &run);

// One of several that do the same.
struct Contender {
  std::string name;               // of its rows
  uint64_t bytes;                 // of a run
  std::function<void()> run;      // all that is measured
  std::function<void()> check;    // after each run; throws where the output is wrong
  std::function<void()> prepare;  // before each; the last two may be left out
  // The seconds until the caller of the last run was free again. It may be empty.
  std::function<double()> submit_seconds{};
};

// Runs each once without measuring, and then `runs` times. Programs that were run and
// waited for count to the process. Adds rows: the name (GB/s, with the cores that the
// process kept busy, and the ratio to the first contender named `.openssl`), `.cpu` after
// it (the process's CPU time, in ms/GB) and, for those that tell it, `.submit` (ms of a
// run). If a contender's device does not do such a thing, it is named on stderr and left
// out.
void measure_contenders(const std::vector<Contender> &contenders, unsigned runs,
                        std::optional<uint64_t> streams, BenchLog &log);

}  // namespace lanecrypt::bench
