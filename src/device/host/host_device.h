// What tests use of the emulator in addition to device.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace lanecrypt::device {

class HostQueue;

// A stream of the application on the emulator, as applications have them on a GPU, for
// lc_cipher_job.stream. It runs work in order on its own thread.
class HostCallersStream {
 public:
  HostCallersStream();
  // Waits until all work is done.
  ~HostCallersStream();
  HostCallersStream(const HostCallersStream &) = delete;
  // Returns the default stream of the calling thread, which lc_cipher_job.stream names as
  // LC_STREAM_PER_THREAD. Each thread has its own, and only that thread may use it.
  static HostCallersStream &of_this_thread();

  void *handle() const { return queue_.get(); }
  void run(std::function<void()> work);
  void finish();

 private:
  friend class HostDevice;
  const std::shared_ptr<HostQueue> queue_;
};

// Returns how many ranges of callers' memory all emulators have pinned now.
uint64_t count_pinned_in_place();
// Returns how many ranges were ever pinned.
uint64_t pinnings_in_place();

}  // namespace lanecrypt::device
