// A whole file or stream as one message in memory.
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

// The whole input in memory. A larger file is mapped; a smaller file or a stream is read.
class Message {
 public:
  // Reads or maps the input; "-" is standard input. Throws Failure if it cannot be read, or if a
  // stream is larger than half of the machine's memory.
  explicit Message(const std::string &path);
  ~Message();
  Message(Message &&other) noexcept;
  Message &operator=(Message &&) = delete;

  const uint8_t *data() const { return data_; }
  uint64_t size() const { return bytes_; }
  // Returns why the bytes were not those of the file, or nothing if they were. Call it after the
  // bytes have been used. A mapped file may have become shorter, or its disk may have failed; the
  // lost bytes read as zeros.
  std::optional<Failure> damage() const;
  // The file's status when it was opened.
  const struct stat &status() const { return status_; }
  // The number of bytes of memory that the message occupies; 0 for a mapping.
  uint64_t held_bytes() const { return mapped_bytes_ == 0 ? bytes_ : 0; }

 private:
  bool map(Input &input);
  void read(Input &input);

  std::string path_;
  std::string name_;  // for messages
  std::optional<PageGuard> guard_;
  void *memory_ = nullptr;     // the mapping, or malloc() memory
  uint64_t mapped_bytes_ = 0;  // 0: `memory_` is from malloc()
  const uint8_t *data_ = nullptr;
  uint64_t bytes_ = 0;
  struct stat status_ {};
};

}  // namespace lanecrypt::cli
