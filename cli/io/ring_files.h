// Both files of a run through one io_uring: chunks are read and written at the same time,
// past the page cache if the file system allows it.
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

// One thread, except for wake().
class RingFiles {
 public:
  // nullptr if neither file passes this way. By default those files do that are large, do
  // not lie in the page cache, and whose file system has O_DIRECT. LANECRYPT_FILE_IO
  // chooses otherwise: "plain" no file; "ring" every file, through the page cache;
  // "direct" every file, past it where possible.
  static std::unique_ptr<RingFiles> make(Input &input, Output &output, size_t chunk_bytes,
                                         unsigned chunks);
  ~RingFiles();

  bool reads() const { return input_.passes; }
  bool writes() const { return output_.passes; }
  // "threads" if it does not pass this way; "ring" or "direct".
  const char *way_of_input() const { return way(input_); }
  const char *way_of_output() const { return way(output_); }
  // How much room a chunk's buffers must have besides its data.
  static constexpr size_t kRoomBytes = 4 * 4096;
  // The alignment of the places in the output where chunks begin, except the first.
  uint64_t write_alignment() const { return output_.direct ? kAlignment : 1; }

  // Begins to read so many bytes of the input from `offset` on, and `lead` bytes before
  // them. Sets chunk.in, within chunk.in_room.
  void read(Chunk &chunk, uint64_t offset, size_t bytes, size_t lead);
  // Begins to write what lies at chunk.out_room. Bytes behind it are overwritten. If `at`
  // + `bytes` is not aligned, the file gets longer.
  void write(Chunk &chunk, uint64_t at, size_t bytes);

  struct Over {
    Chunk *chunk;
    bool is_write;
  };
  // Waits until a transfer is over, or for wake(). Throws Failure.
  std::vector<Over> wait();
  bool is_idle() const { return transfers_.empty(); }
  // Waits until nothing is under way, whatever the outcomes.
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
    uint64_t at;    // in the file
    size_t bytes;   // of what is asked for
    size_t needed;  // of what must be there
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
