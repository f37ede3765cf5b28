// A load that occupies all cores while a benchmark runs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace lanecrypt::bench {

// Runs `stress-ng --cpu` if it is on the PATH. Otherwise starts one thread per core that encrypts
// by AES in a loop.
class CpuLoad {
 public:
  // Calls `note` if stress-ng was found but ended at once.
  explicit CpuLoad(const std::function<void(const std::string &)> &note);
  ~CpuLoad();
  CpuLoad(const CpuLoad &) = delete;
  CpuLoad &operator=(const CpuLoad &) = delete;

  // "stress-ng" or "threads".
  const char *name() const { return stress_ng_ > 0 ? "stress-ng" : "threads"; }
  // Throws Failure (kFailed) if stress-ng has ended, because the measurement then ran without a
  // load.
  void check();

 private:
  bool start_stress_ng(unsigned cores);
  bool has_ended();

  pid_t stress_ng_ = 0;
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

}  // namespace lanecrypt::bench
