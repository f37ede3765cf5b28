// A file descriptor that a library keeps in a program that does not know of it. The program may
// close all descriptors that it does not know, and open other files under their numbers. So the
// class remembers the device and inode of its file and compares them before each use.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

namespace lanecrypt::client {

class OwnDescriptor {
 public:
  // kHigh moves the descriptor to a number from 1000 on, if the limit allows: low numbers are
  // scarce in programs that use select() or that reach their limit. Neither kind takes the number
  // of standard input, output or error.
  enum class Number { kAny, kHigh };

  OwnDescriptor() = default;
  // Takes ownership of `descriptor`; -1 means none.
  explicit OwnDescriptor(int descriptor, Number number = Number::kAny);
  ~OwnDescriptor() { close(); }
  OwnDescriptor(OwnDescriptor &&other) noexcept { *this = std::move(other); }
  OwnDescriptor &operator=(OwnDescriptor &&other) noexcept;

  // -1 if there is none.
  int get() const { return descriptor_; }
  bool is_there() const { return descriptor_ >= 0; }
  // Returns whether the number still refers to the same file. Makes one system call.
  bool is_ours() const;
  // Closes the descriptor if is_ours().
  void close();

 private:
  int descriptor_ = -1;
  uint64_t device_ = 0, inode_ = 0;
};

}  // namespace lanecrypt::client
