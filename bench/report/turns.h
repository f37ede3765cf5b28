// What several do with the same data, in turn.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/report/log.h"

namespace lanecrypt::cli {

// Calls run(round, who), round by round, forth and back by turns: what drifts, such as
// a clock, falls on all alike.
void in_turn(unsigned rounds, size_t count,
             const std::function<void(unsigned round, size_t who)> &run);

// One of several that do the same.
struct Contender {
  std::string name;               // of its rows
  uint64_t bytes;                 // of a run
  std::function<void()> run;      // all that is measured
  std::function<void()> check;    // after each run; throws where the output is wrong
  std::function<void()> prepare;  // before each; the last two may be left out
  // Of the run before, the seconds until its caller was free again; may be left out.
  std::function<double()> submit_seconds{};
};

// Each once unmeasured, and `runs` times. A program that was run and waited for counts
// to the process. Adds rows: the name (GB/s, with the cores that the process kept busy,
// and how many times the rate of the first contender named `.openssl` it is), `.cpu`
// after it (the process's CPU time, in ms/GB) and, of those that tell, `.submit` (ms of a
// run). One whose device does not do such a thing is named on stderr and left out.
void measure_contenders(const std::vector<Contender> &contenders, unsigned runs,
                        std::optional<uint64_t> streams, BenchLog &log);

}  // namespace lanecrypt::cli
