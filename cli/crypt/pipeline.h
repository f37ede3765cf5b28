// The pipeline of enc and dec: chunks are read, processed and written concurrently, each stage on
// its own threads.
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

// One chunk of the data in the pipeline. Its buffers are reused for later chunks.
struct Chunk {
  uint64_t number = 0;    // from 0, in the order of the data
  size_t data_bytes = 0;  // bytes read
  size_t work_bytes = 0;  // bytes to process: with padding, whole blocks
  bool last = false;
  Block iv{};  // the IV of this chunk as a separate message
  // Point into the two buffers below, or into the mapped memory of the files. In a buffer, bytes of
  // the file before the data may be transferred together with it.
  const uint8_t *in = nullptr;
  uint8_t *out = nullptr;
  bool out_is_mapped = false;
  // The buffers. Each has space for a chunk and one block of padding.
  uint8_t *in_room = nullptr, *out_room = nullptr;
};

// Runs the cipher on chunks, on a device or on the CPU.
class Engine {
 public:
  // Called once per chunk, when it has completed or failed.
  using Done = std::function<void(std::exception_ptr)>;

  virtual ~Engine() = default;
  // Makes two buffers of `bytes` that live as long as the engine. Returns false if there is not
  // enough memory. Thread-safe.
  virtual bool make_buffers(size_t bytes, uint8_t **in, uint8_t **out) = 0;
  // Starts processing chunk.in to chunk.out. `done` may be called on any thread, even before this
  // returns. Thread-safe.
  virtual void start(Chunk &chunk, Done done) = 0;
  // Called once per chunk by the thread that will write it, before it does. Throws Failure if the
  // chunk failed.
  virtual void collect(Chunk &chunk) = 0;
  // Says that no more chunks will be started. Chunks that wait for an earlier one are completed
  // without being processed.
  virtual void abandon() = 0;
};

// Where the cipher runs.
enum class Runner {
  kDevice,
  kChain,  // one CPU thread; each chunk waits for the one before
  kCores,  // each thread processes the chunks that it reads
};

struct PipelinePlan {
  Runner runner = Runner::kDevice;
  BlockCipherMode cipher;
  bool encrypt = true;
  bool pad = true;  // PKCS #7, if the mode pads
  Block iv{};
  size_t chunk_bytes = 0;  // a multiple of the block size; 0: suit_machine() chooses
  unsigned buffers = 0;    // the most chunks in the pipeline at once
  unsigned readers = 1;    // number of threads; a stream has one
  unsigned writers = 1;    // number of threads; 0: the thread that read a chunk also writes it
};

// Sets the chunk size and the number of threads for the runner, this machine and an input of
// `input_bytes`, if that is known.
void suit_machine(PipelinePlan &plan, std::optional<uint64_t> input_bytes);

struct PipelineOutcome {
  uint64_t bytes = 0;  // bytes written, with the header
  // How the files were read and written: "threads", "ring" (io_uring), or "direct"
  // (io_uring past the page cache).
  std::string input_io, output_io;
};

// Processes all of `input` with `engine` and writes `header` and the result to `output`. Uses
// io_uring and O_DIRECT, if both are available, for large files that are not in the page cache;
// LANECRYPT_FILE_IO overrides that. If a stage fails, it throws the first failure after all threads
// have stopped.
PipelineOutcome run_pipeline(const PipelinePlan &plan, Input &input, Output &output,
                             std::span<const uint8_t> header, Engine &engine, Progress &progress);

}  // namespace lanecrypt::cli
