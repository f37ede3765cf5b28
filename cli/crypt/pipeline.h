// The way of the data through the command. Chunks are read, run and written at the same
// time, each step on its own threads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cli/crypt/block_cipher_mode.h"
#include "cli/io/input.h"
#include "cli/io/output.h"
#include "cli/progress_line.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::cli {

// One chunk of the data on its way, in buffers that are used again for others.
struct Chunk {
  uint64_t number = 0;    // from 0, in order of the data
  size_t data_bytes = 0;  // what was read
  size_t work_bytes = 0;  // what is run: with padding, whole blocks
  bool last = false;
  Block iv{};  // of this chunk as a message of its own
  // Within the two rooms below; bytes of the file before the data may be read and written
  // with them. Or in the files' own mapped memory.
  const uint8_t *in = nullptr;
  uint8_t *out = nullptr;
  bool out_is_mapped = false;
  // Each has room for a chunk and one block of padding.
  uint8_t *in_room = nullptr, *out_room = nullptr;
};

// What runs the cipher over chunks: a device, or the CPU.
class Engine {
 public:
  // Called once a chunk, when it is done or has failed.
  using Done = std::function<void(std::exception_ptr)>;

  virtual ~Engine() = default;
  // Makes two buffers of `bytes`, which last as long as the engine. False if there is no
  // memory for them. Any thread.
  virtual bool make_buffers(size_t bytes, uint8_t **in, uint8_t **out) = 0;
  // Starts to run chunk.in to chunk.out. `done` may be called from any thread, even
  // before this returns. Any thread.
  virtual void start(Chunk &chunk, Done done) = 0;
  // Called once a chunk, by the thread that writes it, before it does so. Throws if the
  // chunk failed.
  virtual void collect(Chunk &chunk) = 0;
  // No more chunks come. Those that wait for an earlier one are done as they are.
  virtual void abandon() = 0;
};

// Who runs the cipher.
enum class Runner {
  kDevice,
  kChain,  // one thread of the CPU; each chunk waits for the one before
  kCores,  // each thread runs what it has read
};

struct PipelinePlan {
  Runner runner = Runner::kDevice;
  BlockCipherMode cipher;
  bool encrypt = true;
  bool pad = true;  // PKCS #7, where the cipher pads
  Block iv{};
  size_t chunk_bytes = 0;  // a multiple of the block; 0: one that suits
  unsigned buffers = 0;    // most chunks on their way at once
  unsigned readers = 1;    // threads; a stream has one
  unsigned writers = 1;    // 0: the thread that has read a chunk also writes it
};

// Sets the chunk's size and the threads that suit the runner, this machine and an input
// of that many bytes, if that is known.
void suit_machine(PipelinePlan &plan, std::optional<uint64_t> input_bytes);

struct PipelineOutcome {
  uint64_t bytes = 0;  // written, with the header
  // How the files were read and written: "threads", "ring" (io_uring), or "direct"
  // (io_uring past the page cache).
  std::string input_io, output_io;
};

// Runs all of `input` through `engine` into `output`, after `header`. Large files that
// are not in the page cache pass by io_uring and O_DIRECT if both are there.
// LANECRYPT_FILE_IO chooses otherwise. Throws the first failure, when no thread works any
// more.
PipelineOutcome run_pipeline(const PipelinePlan &plan, Input &input, Output &output,
                             std::span<const uint8_t> header, Engine &engine, Progress &progress);

}  // namespace lanecrypt::cli
