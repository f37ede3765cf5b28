// SPDX-License-Identifier: Apache-2.0
#include "thread/stuck.h"

#include <exception>
#include <list>
#include <mutex>
#include <new>
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
  // A short job completes before the shortest sleep would.
  for (int n = 0; n < kLooksWithoutSleep; ++n)
    if (event.reached()) return true;
  for (const Clock::time_point end = Clock::now() + limit; Clock::now() < end;) {
    std::this_thread::sleep_for(kLook);
    if (event.reached()) return true;
  }
  return event.reached();
}

Status stuck_status(std::chrono::milliseconds limit) noexcept {
  try {
    return Status(LC_ERROR_DEVICE,
                  "stuck: nothing ended within " + std::to_string(limit.count()) + " ms");
  } catch (const std::exception &) {
    return Status(LC_ERROR_DEVICE, "stuck");  // too short to need memory
  }
}

void keep_for_ever(std::shared_ptr<void> what) noexcept {
  struct Kept {
    std::mutex mutex;
    std::list<std::shared_ptr<void>> all;
  };
  static constinit process::OfProcess<Kept> of_process;
  Kept &kept = of_process.get();
  const std::lock_guard lock(kept.mutex);
  try {
    kept.all.push_back(what);
  } catch (const std::exception &) {
    // Without memory, takes one more reference, which is never dropped.
    union Undropped {
      Undropped() {}
      ~Undropped() {}
      std::shared_ptr<void> what;
    } undropped;
    new (&undropped.what) std::shared_ptr<void>(std::move(what));
  }
}

}  // namespace lanecrypt::runtime
