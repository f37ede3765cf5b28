// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/chain_engine.h"

#include <fmt/format.h>

#include <new>

#include "cli/failure.h"
#include "cli/threads.h"

namespace lanecrypt::cli {

ChainEngine::ChainEngine(const BlockCipherMode &cipher, const SecretBytes &key, const Block &iv)
    : context_(EVP_CIPHER_CTX_new()) {
  const EvpCipher evp = fetch_cpu_cipher(cipher);
  if (!context_ ||
      EVP_EncryptInit_ex2(context_.get(), evp.get(), key.data(), iv.data(), nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context_.get(), 0) != 1)
    throw Failure(ExitCode::kFailed, fmt::format("OpenSSL could not start {}", cipher.name));
  worker_ = start_thread([this] { work(); });
}

ChainEngine::~ChainEngine() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  changed_.notify_one();
  worker_.join();
}

bool ChainEngine::make_buffers(size_t bytes, uint8_t **in, uint8_t **out) {
  // Not initialised: the reader is the first to write the memory, on its own thread.
  std::unique_ptr<uint8_t[]> from(new (std::nothrow) uint8_t[bytes]);
  std::unique_ptr<uint8_t[]> to(new (std::nothrow) uint8_t[bytes]);
  if (!from || !to) return false;
  *in = from.get();
  *out = to.get();
  const std::lock_guard lock(mutex_);
  buffers_.push_back(std::move(from));
  buffers_.push_back(std::move(to));
  return true;
}

void ChainEngine::start(Chunk &chunk, Done done) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(chunk.number, std::pair(&chunk, std::move(done)));
  }
  changed_.notify_one();
}

void ChainEngine::abandon() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  changed_.notify_one();
}

void ChainEngine::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto ready = [&] { return abandoned_ ? !waiting_.empty() : waiting_.count(next_) != 0; };
    changed_.wait(lock, [&] { return end_ || ready(); });
    if (!ready()) return;
    const bool skip = abandoned_;
    const auto [chunk, done] = std::move(waiting_.extract(waiting_.begin()).mapped());
    next_++;
    lock.unlock();
    std::exception_ptr failure;
    try {
      if (!skip) encrypt(*chunk);
    } catch (...) {
      failure = std::current_exception();
    }
    done(failure);
    lock.lock();
  }
}

void ChainEngine::encrypt(const Chunk &chunk) {
  int produced = 0;
  if (chunk.work_bytes == 0) return;
  if (EVP_EncryptUpdate(context_.get(), chunk.out, &produced, chunk.in,
                        static_cast<int>(chunk.work_bytes)) != 1 ||
      static_cast<size_t>(produced) != chunk.work_bytes)
    throw Failure(ExitCode::kFailed, "AES-CBC failed in OpenSSL");
}

}  // namespace lanecrypt::cli
