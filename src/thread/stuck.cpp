// SPDX-License-Identifier: Apache-2.0
#include "thread/stuck.h"

#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "process/of_process.h"

namespace lanecrypt::runtime {
namespace {

constexpr std::chrono::milliseconds kTimeLimit{60000};
constexpr int kSlowerEmulator = 10;
constexpr std::chrono::microseconds kLook{50};
constexpr int kLooksWithoutSleep = 200;

}  // namespace

std::chrono::milliseconds default_time_limit(const device::Properties &properties) {
  return properties.is_gpu ? kTimeLimit : kSlowerEmulator * kTimeLimit;
}

bool await_within(device::Event &event, std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  // A short job is over before the shortest sleep would be.
  for (int n = 0; n < kLooksWithoutSleep; ++n)
    if (event.reached()) return true;
  for (const Clock::time_point end = Clock::now() + limit; Clock::now() < end;) {
    std::this_thread::sleep_for(kLook);
    if (event.reached()) return true;
  }
  return event.reached();
}

Status stuck_status(std::chrono::milliseconds limit) {
  return Status(LC_ERROR_DEVICE,
                "stuck: nothing ended within " + std::to_string(limit.count()) + " ms");
}

void keep_for_ever(std::shared_ptr<void> what) {
  struct Kept {
    std::mutex mutex;
    std::list<std::shared_ptr<void>> all;
  };
  static constinit process::OfProcess<Kept> of_process;
  Kept &kept = of_process.get();
  const std::lock_guard lock(kept.mutex);
  kept.all.push_back(std::move(what));
}

}  // namespace lanecrypt::runtime
