// Something that takes all cores while a benchmark runs beside it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace lanecrypt::cli {

// `stress-ng --cpu`, where it is on the PATH, and else as many threads as cores, which
// do nothing but AES.
class CpuLoad {
 public:
  // `note` is told where stress-ng is there and does not run.
  explicit CpuLoad(const std::function<void(const std::string &)> &note);
  ~CpuLoad();
  CpuLoad(const CpuLoad &) = delete;
  CpuLoad &operator=(const CpuLoad &) = delete;

  // "stress-ng" or "threads".
  const char *name() const { return stress_ng_ > 0 ? "stress-ng" : "threads"; }
  // Throws Failure (kFailed) where it has ended: what was measured had no load.
  void check();

 private:
  bool start_stress_ng(unsigned cores);
  bool has_ended();

  pid_t stress_ng_ = 0;
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

}  // namespace lanecrypt::cli
