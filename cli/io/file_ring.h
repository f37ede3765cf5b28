// Reads and writes of files, many at once, which one thread begins and awaits: io_uring.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace lanecrypt::cli {

// What became of a transfer: its tag, and its bytes or -errno.
struct RingCompletion {
  uint64_t tag;
  int result;
};

class FileRing {
 public:
  // nullptr if the kernel has none, or refuses it to this process, or if the command was
  // built without it. Up to `depth` transfers may be under way.
  static std::unique_ptr<FileRing> make(unsigned depth);
  virtual ~FileRing() = default;

  // Queue a transfer. `may_block`: it goes through the page cache, from and to which the
  // kernel would copy at once, on this thread. It then gets a thread of its own. One
  // thread.
  virtual void read(int descriptor, uint8_t *to, size_t bytes, uint64_t offset, bool may_block,
                    uint64_t tag) = 0;
  virtual void write(int descriptor, const uint8_t *from, size_t bytes, uint64_t offset,
                     bool may_block, uint64_t tag) = 0;
  // Begins all that is queued, and waits until a transfer is over, or for wake().
  virtual std::vector<RingCompletion> wait() = 0;
  // Any thread: makes the wait() under way, or the next one, return.
  virtual void wake() = 0;
};

}  // namespace lanecrypt::cli
