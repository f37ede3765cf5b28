// The input of a command: a file that several threads can read at once, or a stream.
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
  // Opens the input; "-" is standard input. Throws Failure if it cannot be read.
  explicit Input(const std::string &path);
  ~Input();
  Input(const Input &) = delete;
  Input &operator=(const Input &) = delete;

  // The name for messages: "'in.bin'" or "standard input".
  const std::string &name() const { return name_; }
  const struct stat &status() const { return status_; }

  // Whether read_at() can be used, which is thread-safe. Otherwise the input is a stream.
  bool positioned() const { return positioned_; }
  // The number of bytes that are left, if known.
  std::optional<uint64_t> size() const { return size_; }

  // Reads the next bytes into `out`. Returns fewer bytes than `out` has only at the end. Not
  // thread-safe.
  size_t read(std::span<uint8_t> out);
  // Whether all bytes have been read. Reads ahead to find out.
  bool at_end();
  // Reads ahead up to `bytes`. If the input ends before, size() is known afterwards.
  void read_ahead(size_t bytes);

  // Fills `out` from `offset`, relative to what read() has consumed. Throws Failure if the file has
  // become shorter. Thread-safe.
  void read_at(uint64_t offset, std::span<uint8_t> out) const;
  // Maps the file. Returns false if that is impossible. Only if positioned(). Call it before other
  // threads use the input.
  bool map();
  // The mapped bytes from `offset` on. If the file has become shorter, accessing them raises
  // SIGBUS.
  const uint8_t *pages(uint64_t offset) const { return pages_ + start_ + offset; }
  // The descriptor, and the position in the file of `offset`, for transfers outside this class.
  // Only if positioned().
  int descriptor() const { return descriptor_; }
  uint64_t place(uint64_t offset) const { return start_ + offset; }
  // Sets O_DIRECT, so that reads bypass the page cache. Returns false if that is impossible, or if
  // other programs share the descriptor.
  bool go_direct();
  void leave_direct();
  // Estimates whether the file is in the page cache, which is faster than any disk.
  bool is_cached() const;
  // Whether the whole file is in memory: in a tmpfs or, by is_cached(), in the page cache.
  bool is_in_memory() const;
  // Throw the Failure for a failed transfer.
  [[noreturn]] void throw_error(int error) const;
  [[noreturn]] void throw_shorter() const;
  [[noreturn]] void throw_bus_error() const;

  // Whether the file has grown since it was opened.
  bool has_grown() const;
  // Makes a read() of a stream that is in progress on another thread, and all later ones, throw
  // Failure.
  void stop();
  // Moves the position of a shared descriptor to the end of the file, where a reader of a stream
  // would have left it.
  void finish();

 private:
  size_t read_descriptor(std::span<uint8_t> out);

  std::string name_;
  FileDescriptor file_;  // not set for standard input
  int descriptor_ = -1;
  FileDescriptor stop_;  // an eventfd that stop() writes
  struct stat status_ {};
  bool positioned_ = false;
  uint64_t start_ = 0;  // position in the file of the next byte
  std::optional<uint64_t> size_;
  const uint8_t *pages_ = nullptr;  // mapping of the whole file, with its size at opening
  std::vector<uint8_t> ahead_;
  size_t ahead_taken_ = 0;
};

}  // namespace lanecrypt::cli
