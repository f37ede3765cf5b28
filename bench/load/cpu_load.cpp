// SPDX-License-Identifier: Apache-2.0
#include "bench/load/cpu_load.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "bench/load/data.h"
#include "cli/failure.h"
#include "cpu/core_count.h"

namespace lanecrypt::bench {

CpuLoad::CpuLoad(const std::function<void(const std::string &)> &note) {
  const unsigned cores = cpu::usable_cores();
  if (start_stress_ng(cores)) {
    // stress-ng needs a moment until all its workers run or one of them fails.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    if (!has_ended()) return;
    note("stress-ng ended at once: threads of this process load the CPU instead");
  }
  for (unsigned n = 0; n < cores; n++)
    threads_.emplace_back([this] {
      const BenchData data;
      std::vector<uint8_t> buffer(16 << 10);
      while (!over_) data.fill(0, buffer);
    });
}

CpuLoad::~CpuLoad() {
  over_ = true;
  for (std::thread &thread : threads_) thread.join();
  if (stress_ng_ <= 0) return;
  kill(stress_ng_, SIGTERM);  // stress-ng then ends its workers
  waitpid(stress_ng_, nullptr, 0);
}

void CpuLoad::check() {
  if (stress_ng_ > 0 && has_ended())
    throw cli::Failure(cli::ExitCode::kFailed, "stress-ng ended while the loaded CPU was measured");
}

bool CpuLoad::start_stress_ng(unsigned cores) {
  // The time limit ends stress-ng if this process dies first.
  const std::string count = std::to_string(cores);
  const char *const words[] = {"stress-ng", "--cpu",   count.c_str(), "--timeout",
                               "1800s",     "--quiet", nullptr};
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return false;
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const int error = posix_spawnp(&stress_ng_, words[0], &actions, nullptr,
                                 const_cast<char *const *>(words), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) stress_ng_ = 0;
  return error == 0;
}

bool CpuLoad::has_ended() {
  if (waitpid(stress_ng_, nullptr, WNOHANG) == 0) return false;
  stress_ng_ = 0;
  return true;
}

}  // namespace lanecrypt::bench
