// SPDX-License-Identifier: Apache-2.0
#include "device/host/host_lanes.h"

#include <pthread.h>

#include <thread>
#include <vector>

#include "kernels/host_lane.h"

namespace lanecrypt::device {
namespace {

// There are more lanes than cores, so a lane that waits sleeps at once. With std::barrier it would
// look again and again first, on a core that another lane needs.
class Barrier {
 public:
  explicit Barrier(uint32_t lanes) { pthread_barrier_init(&barrier_, nullptr, lanes); }
  ~Barrier() { pthread_barrier_destroy(&barrier_); }
  Barrier(const Barrier &) = delete;
  Barrier &operator=(const Barrier &) = delete;
  void wait() { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

}  // namespace

void run_lanes(uint32_t lanes, uint32_t group, uint32_t groups, const std::function<void()> &work) {
  if (lanes == 1) {
    host_lane = {.group = group, .groups = groups};
    return work();
  }
  Barrier barrier(lanes);
  const auto run_lane = [&](uint32_t lane) {
    host_lane = {.lane = lane,
                 .lanes = lanes,
                 .group = group,
                 .groups = groups,
                 .barrier = [](void *b) { static_cast<Barrier *>(b)->wait(); },
                 .barrier_argument = &barrier};
    work();
  };
  std::vector<std::thread> others;
  for (uint32_t lane = 1; lane < lanes; ++lane) others.emplace_back(run_lane, lane);
  run_lane(0);
  for (std::thread &other : others) other.join();
  host_lane = {};  // this thread's: the barrier goes
}

}  // namespace lanecrypt::device
