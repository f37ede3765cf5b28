// An engine for CBC encryption of one file, in which each block depends on the block before. A CPU
// with AES instructions runs such a serial chain faster than any device, so one thread runs it with
// OpenSSL while other threads read and write.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cli/crypt/block_cipher_mode.h"
#include "cli/crypt/pipeline.h"
#include "cli/keys/secret_bytes.h"

namespace lanecrypt::cli {

class ChainEngine : public Engine {
 public:
  ChainEngine(const BlockCipherMode &cipher, const SecretBytes &key, const Block &iv);
  ~ChainEngine() override;

  bool make_buffers(size_t bytes, uint8_t **in, uint8_t **out) override;
  void start(Chunk &chunk, Done done) override;
  void collect(Chunk &) override {}
  void abandon() override;

 private:
  void work();
  void encrypt(const Chunk &chunk);

  EvpContext context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<uint8_t[]>> buffers_;
  std::map<uint64_t, std::pair<Chunk *, Done>> waiting_;
  uint64_t next_ = 0;
  bool abandoned_ = false;
  bool end_ = false;
  std::thread worker_;
};

}  // namespace lanecrypt::cli
