// Runs many reads and writes of files at once from one thread, with io_uring.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace lanecrypt::cli {

// The result of a transfer: its tag, and the number of bytes or -errno.
struct RingCompletion {
  uint64_t tag;
  int result;
};

class FileRing {
 public:
  // Returns nullptr if the kernel has no io_uring or does not allow this process to use it, or if
  // the command was built without it. Up to `depth` transfers may be in progress.
  static std::unique_ptr<FileRing> make(unsigned depth);
  virtual ~FileRing() = default;

  // Queue a transfer. `may_block` is true if it goes through the page cache: the kernel would then
  // copy synchronously on this thread, so it is told to use a kernel thread. Not thread-safe.
  virtual void read(int descriptor, uint8_t *to, size_t bytes, uint64_t offset, bool may_block,
                    uint64_t tag) = 0;
  virtual void write(int descriptor, const uint8_t *from, size_t bytes, uint64_t offset,
                     bool may_block, uint64_t tag) = 0;
  // Submits all queued transfers, waits until at least one has completed or wake() is called, and
  // returns the completed ones.
  virtual std::vector<RingCompletion> wait() = 0;
  // Makes the current wait(), or the next one, return. Thread-safe.
  virtual void wake() = 0;
};

}  // namespace lanecrypt::cli
