// Fault injection for tests: in the emulator, or in another device that a test wraps.
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

// Reads LANECRYPT_HOST_FAULT when a device is opened: a list of KIND:N, separated by commas. N
// counts, from 0, what happens after the self-test (wrong-byte: from the start). What a kernel
// writes to pinned memory counts as a download.
//   lost-after:N     the device is lost when kernel N is to run; results of earlier kernels can
//                    still be downloaded
//   lost-upload:N    the device is lost halfway through upload N
//   lost-download:N  the device is lost halfway through download N
//   fail-launch:N    kernel N is refused, once
//   no-memory:N      allocation N fails, once
//   no-pin:N         from pinning N on, no memory of the caller can be pinned
//   wrong-blocks:N   from download N on, every byte is wrong, and so is each sample of a block,
//                    however short and wherever it begins
//   wrong-download:N every byte of download N is wrong in this way, once
//   wrong-byte:N     from download N on, each has a wrong byte
//   flip-bit:N       download N has a wrong bit, once
//   stuck:N          kernel N does not end while the device is open
//   no-reach:0       no kernel reaches pinned memory, and the device reports that
//   pace:N           uploads take at least N nanoseconds per KiB
//   drop-kernel:N    kernel N silently does not run, once
//   drop-zero:N      zeroing number N is silently not done, once
//   drop-download:N  download N silently copies nothing, once
// With a + after it, as in no-memory:0+, a fault that strikes once strikes from N on.
class HostFault {
 public:
  HostFault();
  explicit HostFault(const char *text);  // nullptr: no faults

  void begin_service() { serving_ = true; }
  bool is_serving() const { return serving_; }
  // Lets a stuck kernel end.
  void release();

  Status on_launch();    // when a kernel is enqueued
  Status on_run();       // when the kernel starts
  bool strikes_stuck();  // the part of on_run() that decides whether it would block
  Status on_run_if_not_stuck();
  bool drops_kernel() { return serving_ && strikes("drop-kernel"); }
  bool drops_zero() { return serving_ && strikes("drop-zero"); }
  bool drops_download() { return serving_ && strikes("drop-download"); }
  // Blocks until release().
  void await_release();
  bool is_released();
  Status on_allocation();
  Status on_pin();
  // Returns how many of the bytes are copied. If that is fewer than all, the device is lost.
  uint64_t on_upload(uint64_t bytes);
  uint64_t on_download(uint64_t bytes);
  // Whether after_download() may have to be called. If not, downloads need not be waited for.
  bool spoils_downloads();
  void after_download(void *data, uint64_t bytes);
  bool lets_kernels_reach();
  // Applies the faults of downloads to `bytes` that a kernel has written to pinned memory.
  Status after_kernel(void *written, uint64_t bytes);
  bool is_lost() const { return lost_; }
  static Status lost() { return Status(LC_ERROR_DEVICE, "the device was lost (simulated)"); }

 private:
  // Counts one event of the kind, if the fault is requested. Returns whether the fault strikes it:
  // event number N or, with `or_later`, any later one.
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
