// What tests ask of the emulator beside the seam.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace lanecrypt::device {

class HostQueue;

// A stream of a program's own, as it has them on a GPU: lc_cipher_job.stream on the emulator.
// It does one thing after the other on a thread of its own.
class HostCallersStream {
 public:
  HostCallersStream();
  // Waits until all is done.
  ~HostCallersStream();
  HostCallersStream(const HostCallersStream &) = delete;
  // The default stream of the calling thread, which lc_cipher_job.stream names as
  // LC_STREAM_PER_THREAD; another on each thread. The thread's own alone.
  static HostCallersStream &of_this_thread();

  void *handle() const { return queue_.get(); }
  void run(std::function<void()> work);
  void finish();

 private:
  friend class HostDevice;
  const std::shared_ptr<HostQueue> queue_;
};

// Ranges of callers' memory that are pinned now, by all emulators.
uint64_t count_pinned_in_place();
// How many were ever pinned.
uint64_t pinnings_in_place();

}  // namespace lanecrypt::device
