// Whose failure it is that a batch, or one operation of it, was not done.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <utility>

#include "job/status.h"

namespace lanecrypt::runtime {

enum class FailureOf {
  // One operation's: its key, its input, its random generator, or the CPU's own arithmetic for it.
  // It ends that operation alone.
  kItem,
  // Memory was lacking, of the host or of the device. That passes: what was not done goes back, and
  // another device or the CPU does it.
  kMemory,
  // The device's. It is not used any more.
  kDevice,
};

// Success, or a failure and whose it is. A Status does not turn into one by itself: code that fails
// says whose failure it is.
class [[nodiscard]] Failure {
 public:
  Failure() = default;
  static Failure of_memory(Status why) { return {FailureOf::kMemory, std::move(why)}; }
  // Something was thrown, which is for lack of memory or of threads.
  static Failure of_memory(const std::exception &error) noexcept {
    return of_memory(status_of(LC_ERROR_MEMORY, error.what()));
  }
  // Both take a lack of memory for what it is.
  static Failure of_item(Status why) { return of(FailureOf::kItem, std::move(why)); }
  static Failure of_device(Status why) { return of(FailureOf::kDevice, std::move(why)); }
  // The failure of the CPU's check of a result: LC_ERROR_DEVICE says that the result is wrong, and
  // anything else that it could not be checked.
  static Failure of_check(Status why) {
    return why.code() == LC_ERROR_DEVICE ? of_device(std::move(why)) : of_item(std::move(why));
  }
  // Of a self-test that runs again. What the CPU could not do for it says nothing of the device.
  static Failure of_self_test(Status why) {
    const bool is_devices = why.code() == LC_ERROR_SELF_TEST || why.code() == LC_ERROR_DEVICE;
    return {is_devices ? FailureOf::kDevice : FailureOf::kMemory, std::move(why)};
  }

  bool ok() const { return status_.ok(); }
  // Only of a failure.
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
