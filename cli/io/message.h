// A file or a stream as one message in memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cli/failure.h"
#include "cli/io/bus_error.h"
#include "cli/io/input.h"

namespace lanecrypt::cli {

// The whole of an input: a longer file is mapped, a shorter one and a stream are read.
class Message {
 public:
  // "-" is standard input. Throws Failure if it cannot be read, and for a stream of more than
  // half the machine's memory.
  explicit Message(const std::string &path);
  ~Message();
  Message(Message &&other) noexcept;
  Message &operator=(Message &&) = delete;

  const uint8_t *data() const { return data_; }
  uint64_t size() const { return bytes_; }
  // Asked once the bytes have been used: why they were not the file's. A mapped file may have
  // become shorter, or its disk may have failed. The bytes that were lost read as zeros.
  std::optional<Failure> damage() const;
  // Of the file, as it was opened.
  const struct stat &status() const { return status_; }
  // Bytes of memory that it takes for itself.
  uint64_t held_bytes() const { return mapped_bytes_ == 0 ? bytes_ : 0; }

 private:
  bool map(Input &input);
  void read(Input &input);

  std::string path_;
  std::string name_;  // for messages
  std::optional<PageGuard> guard_;
  void *memory_ = nullptr;     // of a mapping, or of malloc()
  uint64_t mapped_bytes_ = 0;  // 0: of malloc()
  const uint8_t *data_ = nullptr;
  uint64_t bytes_ = 0;
  struct stat status_ {};
};

}  // namespace lanecrypt::cli
