// What goes wrong in a device, on demand, for tests: in the emulator, or in one that
// a test wraps up.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "job/status.h"

namespace lanecrypt::device {

// Reads LANECRYPT_HOST_FAULT when a device is opened: a list of KIND:N,
// separated by commas. N counts, from 0, what happens after the self-test
// (wrong-byte: from the start). What a kernel writes to pinned memory counts as a
// download.
//   lost-after:N     the device is lost when it is to run kernel N; what the
//                    earlier ones made still comes back
//   lost-upload:N    it is lost halfway through upload N
//   lost-download:N  it is lost halfway through download N
//   fail-launch:N    kernel N is refused, once
//   no-memory:N      allocation N fails, once
//   no-pin:N         from pinning N on, no memory of the caller's is pinned
//   wrong-blocks:N   from download N on, every byte is wrong, and so each sample
//                    of a block, however short and wherever it begins
//   wrong-download:N every byte of download N is wrong in this way, once
//   wrong-byte:N     from download N on, each has a wrong byte
//   flip-bit:N       download N has a wrong bit, once
//   stuck:N          kernel N does not end while the device is open
//   no-reach:0       no kernel reaches pinned memory, and the device says so
//   pace:N           uploads take N nanoseconds a KiB at least
//   drop-kernel:N    kernel N does not run, and nobody says so, once
//   drop-zero:N      what is to be zeroed the Nth time is not, and nobody says so, once
//   drop-download:N  download N brings nothing, and nobody says so, once
// With a + behind it, as in no-memory:0+, what happens once happens from N on.
class HostFault {
 public:
  HostFault();
  explicit HostFault(const char *text);  // nullptr: nothing does

  void begin_service() { serving_ = true; }
  bool is_serving() const { return serving_; }
  // Lets a stuck kernel go.
  void release();

  Status on_launch();    // when a kernel is given to a stream
  Status on_run();       // when it is to run
  bool strikes_stuck();  // of on_run(), whether it would not return
  Status on_run_if_not_stuck();
  bool drops_kernel() { return serving_ && strikes("drop-kernel"); }
  bool drops_zero() { return serving_ && strikes("drop-zero"); }
  bool drops_download() { return serving_ && strikes("drop-download"); }
  // Until release().
  void await_release();
  bool is_released();
  Status on_allocation();
  Status on_pin();
  // How many of the bytes are copied; with fewer than all, the device is lost.
  uint64_t on_upload(uint64_t bytes);
  uint64_t on_download(uint64_t bytes);
  // Whether after_download() may have to be called: not else is what comes back waited
  // for.
  bool spoils_downloads();
  void after_download(void *data, uint64_t bytes);
  bool lets_kernels_reach();
  // Both for what a kernel has written to pinned memory: when it is there.
  Status after_kernel(void *written, uint64_t bytes);
  bool is_lost() const { return lost_; }
  static Status lost() { return Status(LC_ERROR_DEVICE, "the device was lost (simulated)"); }

 private:
  // Counts one happening of the kind, if it is asked for; whether it is the
  // one, and with `or_later` one after it.
  bool strikes(const char *kind, bool or_later = false);
  uint64_t number_of(const char *kind);
  uint64_t halfway(const char *kind, uint64_t bytes);

  struct Plan {
    uint64_t at = 0, count = 0;
    bool or_later = false;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Plan, std::less<>> plans_;
  std::atomic<bool> serving_ = false, lost_ = false;
  bool released_ = false;
};

}  // namespace lanecrypt::device
