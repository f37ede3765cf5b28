// SPDX-License-Identifier: Apache-2.0
#include "thread/openings.h"

#include <condition_variable>
#include <mutex>

#include "process/of_process.h"

namespace lanecrypt::runtime {
namespace {

struct UnderWay {
  std::mutex mutex;
  std::condition_variable changed;
  unsigned count = 0;
};

process::OfProcess<UnderWay> under_way;

thread_local bool began_here = false;

}  // namespace

Opening::Opening() {
  began_here = true;
  UnderWay &all = under_way.get();
  const std::lock_guard lock(all.mutex);
  ++all.count;
}

Opening::~Opening() {
  UnderWay &all = under_way.get();
  const std::lock_guard lock(all.mutex);
  // A child of fork() inherits the opening but not the count.
  if (all.count > 0 && --all.count == 0) all.changed.notify_all();
}

bool Opening::await_own() {
  if (!began_here) return false;
  began_here = false;
  UnderWay &all = under_way.get();
  std::unique_lock lock(all.mutex);
  all.changed.wait(lock, [&] { return all.count == 0; });
  return true;
}

}  // namespace lanecrypt::runtime
