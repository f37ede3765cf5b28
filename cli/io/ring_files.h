// Transfers the input and output of a run with one io_uring: chunks are read and written
// concurrently, bypassing the page cache if the file system allows it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "cli/io/file_ring.h"
#include "cli/io/input.h"
#include "cli/io/output.h"

namespace lanecrypt::cli {

struct Chunk;

// Not thread-safe, except for wake().
class RingFiles {
 public:
  // Returns nullptr if neither file should use io_uring. By default a file does if the input is
  // large, the file's file system supports O_DIRECT and, for the input, the file is not in the page
  // cache. LANECRYPT_FILE_IO overrides that: "plain" for no file; "ring" for every file, through
  // the page cache; "direct" for every file, bypassing the page cache where possible.
  static std::unique_ptr<RingFiles> make(Input &input, Output &output, size_t chunk_bytes,
                                         unsigned chunks);
  ~RingFiles();

  bool reads() const { return input_.passes; }
  bool writes() const { return output_.passes; }
  // Return "ring" or "direct", or "threads" if the file does not use io_uring.
  const char *way_of_input() const { return way(input_); }
  const char *way_of_output() const { return way(output_); }
  // The number of bytes that a chunk's buffers must have besides its data.
  static constexpr size_t kRoomBytes = 4 * 4096;
  // The alignment in the output of the start of every chunk but the first.
  uint64_t write_alignment() const { return output_.direct ? kAlignment : 1; }

  // Starts to read `bytes` of the input from `offset` on, and the `lead` bytes before them. Sets
  // chunk.in, which points into chunk.in_room.
  void read(Chunk &chunk, uint64_t offset, size_t bytes, size_t lead);
  // Starts to write `bytes` from chunk.out_room at the position `at` of the output. With O_DIRECT
  // the length is rounded up: bytes of the buffer after them are overwritten, and the file may
  // become longer.
  void write(Chunk &chunk, uint64_t at, size_t bytes);

  struct Over {
    Chunk *chunk;
    bool is_write;
  };
  // Waits until a transfer has completed, or for wake(). Returns the completed transfers. Throws
  // Failure.
  std::vector<Over> wait();
  bool is_idle() const { return transfers_.empty(); }
  // Waits until no transfer is in progress, and ignores their results.
  void drain();
  void wake() { ring_->wake(); }

 private:
  static constexpr size_t kAlignment = 4096;
  struct Side {
    bool passes = false, direct = false;
  };
  struct Transfer {
    Chunk *chunk;
    bool is_write;
    uint8_t *memory;
    uint64_t at;    // position in the file
    size_t bytes;   // bytes requested
    size_t needed;  // bytes without which the transfer has failed
    size_t done = 0;
  };

  RingFiles(Input &in, Output &out, std::unique_ptr<FileRing> ring)
      : in_(in), out_(out), ring_(std::move(ring)) {}
  static const char *way(const Side &side) {
    return side.direct ? "direct" : side.passes ? "ring" : "threads";
  }
  void begin(Transfer &transfer);
  bool go_on(Transfer &transfer, int result);
  static uint64_t down(uint64_t place) { return place / kAlignment * kAlignment; }
  static uint64_t up(uint64_t place) { return down(place + kAlignment - 1); }

  Input &in_;
  Output &out_;
  std::unique_ptr<FileRing> ring_;
  Side input_, output_;
  std::list<Transfer> transfers_;
};

}  // namespace lanecrypt::cli
