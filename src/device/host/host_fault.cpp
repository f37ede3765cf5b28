// SPDX-License-Identifier: Apache-2.0
#include "device/host/host_fault.h"
#include "process/diagnostics.h"

#include <stdlib.h>

#include <chrono>
#include <cstring>
#include <sstream>
#include <thread>

namespace lanecrypt::device {

HostFault::HostFault() : HostFault(process::diagnostic_variable("LANECRYPT_HOST_FAULT")) {}

HostFault::HostFault(const char *text) {
  if (text == nullptr) return;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ',');) {
    const size_t colon = one.find(':');
    Plan plan;
    if (colon != std::string::npos) plan.at = strtoull(one.c_str() + colon + 1, nullptr, 10);
    plan.or_later = one.back() == '+';
    plans_[one.substr(0, colon)] = plan;
  }
}

void HostFault::release() {
  std::lock_guard lock(mutex_);
  released_ = true;
  changed_.notify_all();
}

bool HostFault::strikes(const char *kind, bool or_later) {
  if (plans_.empty()) return false;
  std::lock_guard lock(mutex_);
  const auto plan = plans_.find(kind);
  if (plan == plans_.end()) return false;
  const uint64_t number = plan->second.count++;
  return number == plan->second.at ||
         ((or_later || plan->second.or_later) && number > plan->second.at);
}

uint64_t HostFault::number_of(const char *kind) {
  std::lock_guard lock(mutex_);
  const auto plan = plans_.find(kind);
  return plan == plans_.end() ? 0 : plan->second.at;
}

Status HostFault::on_launch() {
  if (lost_) return lost();
  if (serving_ && strikes("fail-launch"))
    return Status(LC_ERROR_DEVICE, "the kernel was refused (simulated)");
  return Status();
}

Status HostFault::on_run() {
  if (lost_) return lost();
  if (strikes_stuck()) {
    await_release();
    lost_ = true;
  }
  return on_run_if_not_stuck();
}

bool HostFault::strikes_stuck() { return serving_ && strikes("stuck"); }

void HostFault::await_release() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return released_; });
}

bool HostFault::is_released() {
  std::lock_guard lock(mutex_);
  return released_;
}

Status HostFault::on_run_if_not_stuck() {
  if (lost_) return lost();
  if (!serving_) return Status();
  if (strikes("lost-after", true)) lost_ = true;
  return lost_ ? lost() : Status();
}

Status HostFault::on_allocation() {
  if (lost_) return lost();
  if (serving_ && strikes("no-memory"))
    return Status(LC_ERROR_MEMORY, "there is no memory (simulated)");
  return Status();
}

Status HostFault::on_pin() {
  if (lost_) return lost();
  if (serving_ && strikes("no-pin", true))
    return Status(LC_ERROR_MEMORY, "this memory cannot be pinned (simulated)");
  return Status();
}

uint64_t HostFault::halfway(const char *kind, uint64_t bytes) {
  if (!serving_ || !strikes(kind)) return bytes;
  lost_ = true;
  return bytes / 2;
}

// After a loss, uploads, and downloads of earlier results, still succeed, unless the fault strikes
// a copy.
uint64_t HostFault::on_upload(uint64_t bytes) {
  if (const uint64_t pace = serving_ ? number_of("pace") : 0; pace != 0)
    std::this_thread::sleep_for(std::chrono::nanoseconds(bytes / 1024 * pace));
  return halfway("lost-upload", bytes);
}

uint64_t HostFault::on_download(uint64_t bytes) { return halfway("lost-download", bytes); }

bool HostFault::spoils_downloads() {
  std::lock_guard lock(mutex_);
  for (const char *kind : {"wrong-blocks", "wrong-download", "wrong-byte", "flip-bit"})
    if (plans_.count(kind) != 0) return true;
  return false;
}

void HostFault::after_download(void *data, uint64_t bytes) {
  if (bytes == 0) return;
  const bool from_here = serving_ && strikes("wrong-blocks", true);
  const bool once = serving_ && strikes("wrong-download");
  if (from_here || once)
    // The errors differ from byte to byte, so that they cannot cancel out in a sum of several sums.
    for (uint64_t at = 0; at < bytes; ++at)
      static_cast<uint8_t *>(data)[at] ^= static_cast<uint8_t>(1 + at % 251);
  const bool wrong = strikes("wrong-byte", true), flipped = serving_ && strikes("flip-bit");
  if (wrong || flipped) static_cast<uint8_t *>(data)[bytes / 2] ^= 0x40;
}

bool HostFault::lets_kernels_reach() {
  std::lock_guard lock(mutex_);
  return plans_.count("no-reach") == 0;
}

Status HostFault::after_kernel(void *written, uint64_t bytes) {
  const uint64_t arrived = on_download(bytes);
  if (arrived < bytes) {
    memset(static_cast<uint8_t *>(written) + arrived, 0, bytes - arrived);
    return lost();
  }
  after_download(written, bytes);
  return Status();
}

}  // namespace lanecrypt::device
