// Counts the ASYNC jobs of each thread, and pauses them.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/wait/jobs.h"

#include <openssl/async.h>

#include <algorithm>
#include <chrono>

namespace lanecrypt::provider {
namespace {

// JobsOfThread counts the paused jobs of a thread. A paused job may continue in another thread,
// which the compiler does not know. So no reference to the thread-local object may be kept across a
// pause.
struct JobsOfThread {
  static constexpr uint32_t kFirstTrial = 16, kLastTrial = 4096;
  static constexpr uint32_t kVeryMany = 1u << 20;
  static constexpr auto kWindow = std::chrono::milliseconds(50);

  uint32_t paused = 0;
  // The maximum number of concurrent operations, in the current time window and in the previous
  // one.
  uint32_t most_now = 0, most_before = 0;
  std::chrono::steady_clock::time_point window_began;
  // In a trial, one job pauses to find out whether other jobs begin.
  bool in_trial = false;
  uint32_t most_in_trial = 0;
  uint32_t until_trial = kFirstTrial, between_trials = kFirstTrial;

  uint32_t in_line() {
    const auto now = std::chrono::steady_clock::now();
    if (now - window_began > kWindow) {
      most_before = now - window_began > 2 * kWindow ? 0 : most_now;
      most_now = paused;
      window_began = now;
    }
    if (in_trial) return kVeryMany;
    const uint32_t most = std::max({paused, most_now, most_before});
    if (most > 1) return most;
    if (--until_trial > 0) return 1;
    in_trial = true;
    most_in_trial = 0;
    return kVeryMany;
  }
  void pause() {
    ++paused;
    most_now = std::max(most_now, paused);
    most_in_trial = std::max(most_in_trial, paused);
  }
  void resume() {
    if (paused > 0) --paused;
    if (paused == 0) end_trial();
  }
  void end_trial() {
    if (!in_trial) return;
    in_trial = false;
    // If no other job begins, trials become rarer, because each costs a lone job some time.
    between_trials = most_in_trial > 1 ? kFirstTrial : std::min(2 * between_trials, kLastTrial);
    until_trial = between_trials;
  }
};
thread_local JobsOfThread jobs_of_thread;

[[gnu::noinline]] void note_pause() { jobs_of_thread.pause(); }
[[gnu::noinline]] void note_resume() { jobs_of_thread.resume(); }

}  // namespace

uint32_t operations_in_line() {
  return ASYNC_get_current_job() == nullptr ? 1 : jobs_of_thread.in_line();
}

void stays_on_cpu() {
  if (jobs_of_thread.paused == 0) jobs_of_thread.end_trial();
}

void pause_until_over(PausedWork &work) {
  using Clock = std::chrono::steady_clock;
  int refusals = 0;
  note_pause();
  bool is_over = work.is_over();
  while (!is_over) {
    const Clock::time_point before = Clock::now();
    const bool paused = ASYNC_pause_job() != 0;
    is_over = work.is_over();
    if (is_over) break;
    // Either another part of the program resumed the job, which is allowed, or pausing is blocked
    // and returned at once.
    if (Clock::now() - before < std::chrono::microseconds(2)) ++refusals;
    if (paused && refusals < 3) continue;
    work.block();
    is_over = true;
  }
  note_resume();
}

}  // namespace lanecrypt::provider
