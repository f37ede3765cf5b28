// A descriptor of ours in a program that knows nothing of it. The program may close all
// descriptors that it does not know, and open files of its own under their numbers. So we
// remember which file a descriptor is, and look before we use it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

namespace lanecrypt::client {

class OwnDescriptor {
 public:
  // Low numbers are wanted by programs that use select() or fill their limit. `kHigh` takes a
  // number above them, where the limit allows. Neither kind takes a standard file's.
  enum class Number { kAny, kHigh };

  OwnDescriptor() = default;
  // Takes `descriptor` over, which may be -1 for none.
  explicit OwnDescriptor(int descriptor, Number number = Number::kAny);
  ~OwnDescriptor() { close(); }
  OwnDescriptor(OwnDescriptor &&other) noexcept { *this = std::move(other); }
  OwnDescriptor &operator=(OwnDescriptor &&other) noexcept;

  // -1: none.
  int get() const { return descriptor_; }
  bool is_there() const { return descriptor_ >= 0; }
  // Whether the number still is our file. It costs one system call.
  bool is_ours() const;
  // Closes it if it is ours.
  void close();

 private:
  int descriptor_ = -1;
  uint64_t device_ = 0, inode_ = 0;
};

}  // namespace lanecrypt::client
