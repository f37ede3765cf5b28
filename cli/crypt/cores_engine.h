// The cipher on the CPU, each chunk by the thread that has read it: for files that lie
// in memory, where the copies to a device and back take longer than the cipher.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "cli/crypt/aes_cipher.h"
#include "cli/crypt/pipeline.h"
#include "cli/io/input.h"
#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

// Of ECB, CTR, and CBC decryption, where a chunk with its IV is a message of its own.
class CoresEngine : public Engine {
 public:
  // The key must stay while the engine lives, and the input, in which chunks lie or not.
  CoresEngine(const AesCipher &cipher, bool encrypt, const SecretBytes &key, const Input &input);

  // Whether a core here ciphers as fast as it copies: with instructions for AES it does.
  static bool is_quick(const AesCipher &cipher);

  // One buffer, as both.
  bool make_buffers(size_t bytes, uint8_t **in, uint8_t **out) override;
  // Ends when the chunk is done.
  void start(Chunk &chunk, Done done) override;
  void collect(Chunk &) override {}
  void abandon() override {}

 private:
  EvpContext take_context();

  const AesCipher cipher_;
  const bool encrypt_;
  const SecretBytes &key_;
  const Input &input_;
  std::mutex mutex_;
  std::vector<EvpContext> contexts_;  // that no thread has
  std::vector<std::unique_ptr<uint8_t[]>> buffers_;
};

}  // namespace lanecrypt::cli
