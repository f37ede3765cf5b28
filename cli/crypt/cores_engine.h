// An engine that runs the cipher on the CPU, on the thread that has read the chunk. It is for files
// in memory, where the copies to a device and back would take longer than the cipher.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "cli/crypt/block_cipher_mode.h"
#include "cli/crypt/pipeline.h"
#include "cli/io/input.h"
#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

// For ECB, CTR and CBC decryption, where a chunk can be processed as a separate message with its
// own IV.
class CoresEngine : public Engine {
 public:
  // `key` and `input` must outlive the engine. A chunk's input may be the mapped memory of `input`.
  CoresEngine(const BlockCipherMode &cipher, bool encrypt, const SecretBytes &key,
              const Input &input);

  // Measures whether a core encrypts about as fast as it copies memory. With AES instructions it
  // does.
  static bool is_quick(const BlockCipherMode &cipher);

  // Makes one buffer and returns it as both, so the cipher works in place.
  bool make_buffers(size_t bytes, uint8_t **in, uint8_t **out) override;
  // Runs the chunk before it returns. A bus error while it reads the mapped input becomes a
  // Failure.
  void start(Chunk &chunk, Done done) override;
  void collect(Chunk &) override {}
  void abandon() override {}

 private:
  EvpContext take_context();

  const BlockCipherMode cipher_;
  const bool encrypt_;
  const SecretBytes &key_;
  const Input &input_;
  std::mutex mutex_;
  std::vector<EvpContext> contexts_;  // those that no thread is using
  std::vector<std::unique_ptr<uint8_t[]>> buffers_;
};

}  // namespace lanecrypt::cli
