// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <utility>

namespace lanecrypt::service::daemon {

// A file descriptor that its destructor closes.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor &&other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int get() const { return number_; }
  bool ok() const { return number_ >= 0; }
  void close() {
    if (number_ >= 0) (void)::close(std::exchange(number_, -1));
  }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

}  // namespace lanecrypt::service::daemon
