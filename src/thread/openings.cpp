// SPDX-License-Identifier: Apache-2.0
#include "thread/openings.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "process/forks.h"

namespace lanecrypt::runtime {
namespace {

// Never destroyed: threads may end after the process's static objects. A child of fork
// makes its own, since it may inherit this one locked.
struct UnderWay {
  const uint64_t born_in = process::forks();
  std::mutex mutex;
  std::condition_variable changed;
  unsigned count = 0;

  static UnderWay &of_process() {
    static std::atomic<UnderWay *> current{nullptr};
    UnderWay *known = current.load();
    if (known != nullptr && known->born_in == process::forks()) return *known;
    auto *made = new UnderWay();
    if (current.compare_exchange_strong(known, made)) return *made;
    delete made;
    return *known;
  }
};

thread_local bool began_here = false;

}  // namespace

Opening::Opening() {
  began_here = true;
  UnderWay &all = UnderWay::of_process();
  const std::lock_guard lock(all.mutex);
  ++all.count;
}

Opening::~Opening() {
  UnderWay &all = UnderWay::of_process();
  const std::lock_guard lock(all.mutex);
  // A child of fork inherited the opening but not the count.
  if (all.count > 0 && --all.count == 0) all.changed.notify_all();
}

bool Opening::await_own() {
  if (!began_here) return false;
  began_here = false;
  UnderWay &all = UnderWay::of_process();
  std::unique_lock lock(all.mutex);
  all.changed.wait(lock, [&] { return all.count == 0; });
  return true;
}

}  // namespace lanecrypt::runtime
