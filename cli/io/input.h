// The input: a file that several threads read at once, or a stream.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/io/file_descriptor.h"

namespace lanecrypt::cli {

class Input {
 public:
  // "-" is standard input. Throws Failure if it cannot be read.
  explicit Input(const std::string &path);
  ~Input();
  Input(const Input &) = delete;
  Input &operator=(const Input &) = delete;

  // For messages: "'in.bin'" or "standard input".
  const std::string &name() const { return name_; }
  const struct stat &status() const { return status_; }

  // Whether read_at() works, from any thread. Otherwise it is a stream.
  bool positioned() const { return positioned_; }
  // How many bytes are left, if that is known.
  std::optional<uint64_t> size() const { return size_; }

  // Fills `out`, or as much of it as there is before the end. One thread at a time.
  size_t read(std::span<uint8_t> out);
  // Whether the end is reached. It reads ahead to know that.
  bool at_end();
  // Reads ahead up to `bytes`. If the end comes before, size() is then known.
  void read_ahead(size_t bytes);

  // Fills `out` from `offset` after what read() has taken. Throws Failure if the file has
  // become shorter.
  void read_at(uint64_t offset, std::span<uint8_t> out) const;
  // Positioned only: maps it. False if that is impossible. One thread, before the others.
  bool map();
  // The mapped bytes from `offset` on. If the file has become shorter, touching them is a
  // bus error.
  const uint8_t *pages(uint64_t offset) const { return pages_ + start_ + offset; }
  // Positioned only: for transfers that others make. The descriptor, and the place in the
  // file of `offset`.
  int descriptor() const { return descriptor_; }
  uint64_t place(uint64_t offset) const { return start_ + offset; }
  // From now on, goes past the page cache: O_DIRECT. False if that is impossible, or if
  // other programs share the descriptor.
  bool go_direct();
  void leave_direct();
  // Whether it seems to lie in the page cache, which is faster than any disk.
  bool is_cached() const;
  // Whether all of it lies in memory: in a tmpfs or, as it seems, in the page cache.
  bool is_in_memory() const;
  // Throws the Failure of a transfer.
  [[noreturn]] void throw_error(int error) const;
  [[noreturn]] void throw_shorter() const;
  [[noreturn]] void throw_bus_error() const;

  // Whether the file has become longer since it was opened.
  bool has_grown() const;
  // Ends a read() of a stream that is under way on another thread, and all later ones,
  // with a Failure.
  void stop();
  // Leaves a descriptor that other programs share at the end, as a reader of the stream
  // would have done.
  void finish();

 private:
  size_t read_descriptor(std::span<uint8_t> out);

  std::string name_;
  FileDescriptor file_;  // not set for standard input
  int descriptor_ = -1;
  FileDescriptor stop_;  // an eventfd
  struct stat status_ {};
  bool positioned_ = false;
  uint64_t start_ = 0;  // offset in the file of what is left
  std::optional<uint64_t> size_;
  const uint8_t *pages_ = nullptr;  // the whole file, as long as it was
  std::vector<uint8_t> ahead_;
  size_t ahead_taken_ = 0;
};

}  // namespace lanecrypt::cli
