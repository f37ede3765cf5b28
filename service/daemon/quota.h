// A part of a limited number of something, held for as long as this object lives.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace lanecrypt::service::daemon {

// The counter must outlive the object.
class Quota {
 public:
  Quota() = default;
  // Takes `count` of `most`. If fewer are left, takes none and ok() is false.
  Quota(std::atomic<size_t> &taken, size_t most, size_t count = 1) {
    size_t before = taken.load(std::memory_order_relaxed);
    do {
      if (most < count || before > most - count) return;
    } while (!taken.compare_exchange_weak(before, before + count, std::memory_order_relaxed));
    taken_ = &taken;
    count_ = count;
  }
  ~Quota() {
    if (taken_ != nullptr) taken_->fetch_sub(count_, std::memory_order_relaxed);
  }
  Quota(Quota &&other) noexcept { *this = std::move(other); }
  Quota &operator=(Quota &&other) noexcept {
    std::swap(taken_, other.taken_);
    std::swap(count_, other.count_);
    return *this;
  }

  bool ok() const { return taken_ != nullptr; }

 private:
  std::atomic<size_t> *taken_ = nullptr;
  size_t count_ = 0;
};

// A number of descriptors, counted for all users and for one user.
struct DescriptorQuota {
  Quota of_all, of_user;
  bool ok() const { return of_all.ok() && of_user.ok(); }
};

}  // namespace lanecrypt::service::daemon
