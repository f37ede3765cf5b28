// A failure of a batch or of one of its operations, with what is at fault: an operation, memory or
// the device.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <utility>

#include "job/status.h"

namespace lanecrypt::runtime {

enum class FailureOf {
  // One operation: its key, its input, its random generator, or the CPU's own arithmetic for it.
  // The
  // failure ends that operation alone.
  kItem,
  // The host or the device had no memory. That passes, so the device stays in use. Another device
  // or
  // the CPU does what was not done.
  kMemory,
  // The device. It is not used any more.
  kDevice,
};

// Success, or a failure and what is at fault. There is no conversion from Status, so that code
// which fails must name what is at fault.
class [[nodiscard]] Failure {
 public:
  Failure() = default;
  static Failure of_memory(Status why) { return {FailureOf::kMemory, std::move(why)}; }
  // For an exception, which means a lack of memory or of threads.
  static Failure of_memory(const std::exception &error) noexcept {
    return of_memory(status_of(LC_ERROR_MEMORY, error.what()));
  }
  // Both return a failure of memory if `why` is LC_ERROR_MEMORY.
  static Failure of_item(Status why) { return of(FailureOf::kItem, std::move(why)); }
  static Failure of_device(Status why) { return of(FailureOf::kDevice, std::move(why)); }
  // For the CPU's check of a result. LC_ERROR_DEVICE means that the result is wrong, any other code
  // that the CPU could not check it.
  static Failure of_check(Status why) {
    return why.code() == LC_ERROR_DEVICE ? of_device(std::move(why)) : of_item(std::move(why));
  }
  // For a self-test that runs again. LC_ERROR_SELF_TEST and LC_ERROR_DEVICE are the device's
  // failure. Any other code means that the CPU could not run the test, and says nothing about the
  // device.
  static Failure of_self_test(Status why) {
    const bool is_devices = why.code() == LC_ERROR_SELF_TEST || why.code() == LC_ERROR_DEVICE;
    return {is_devices ? FailureOf::kDevice : FailureOf::kMemory, std::move(why)};
  }

  bool ok() const { return status_.ok(); }
  // Valid only if !ok().
  FailureOf whose() const { return whose_; }
  bool is_of(FailureOf whose) const { return !ok() && whose_ == whose; }
  const Status &status() const { return status_; }

 private:
  Failure(FailureOf whose, Status why) : whose_(whose), status_(std::move(why)) {}
  static Failure of(FailureOf whose, Status why) {
    return {why.code() == LC_ERROR_MEMORY ? FailureOf::kMemory : whose, std::move(why)};
  }

  FailureOf whose_ = FailureOf::kItem;
  Status status_;
};

}  // namespace lanecrypt::runtime
