// The cipher on the CPU. The thread that has read a chunk also encrypts it. For files in
// memory, where the copies to a device and back take longer than the cipher.
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

// For ECB, CTR and CBC decryption, in which a chunk with its IV is a message of its own.
class CoresEngine : public Engine {
 public:
  // The key and the input must stay while the engine lives. Chunks may lie in the input.
  CoresEngine(const BlockCipherMode &cipher, bool encrypt, const SecretBytes &key,
              const Input &input);

  // Whether a core here encrypts as fast as it copies. With instructions for AES it does.
  static bool is_quick(const BlockCipherMode &cipher);

  // Makes one buffer, which serves as both.
  bool make_buffers(size_t bytes, uint8_t **in, uint8_t **out) override;
  // Returns when the chunk is done.
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
  std::vector<EvpContext> contexts_;  // those that no thread uses now
  std::vector<std::unique_ptr<uint8_t[]>> buffers_;
};

}  // namespace lanecrypt::cli
