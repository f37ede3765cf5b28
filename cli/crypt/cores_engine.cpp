// SPDX-License-Identifier: Apache-2.0
#include "cli/crypt/cores_engine.h"

#include <fmt/format.h>

#include <chrono>
#include <new>

#include "cli/failure.h"
#include "cli/io/bus_error.h"

namespace lanecrypt::cli {
namespace {

// A rate between those of a core with and without AES instructions.
constexpr double kQuickBytesPerSecond = 1e9;
constexpr size_t kTrialBytes = 256 << 10;
constexpr unsigned kTrials = 8;  // other programs may slow down some of them

EvpContext make_context(const BlockCipherMode &cipher, bool encrypt, const SecretBytes &key) {
  EvpContext context(EVP_CIPHER_CTX_new());
  const EvpCipher evp = fetch_cpu_cipher(cipher);
  if (!context ||
      EVP_CipherInit_ex2(context.get(), evp.get(), key.data(), nullptr, encrypt, nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context.get(), 0) != 1)
    throw Failure(ExitCode::kFailed, fmt::format("OpenSSL could not start {}", cipher.name));
  return context;
}

struct Update {
  EVP_CIPHER_CTX *context;
  const uint8_t *iv, *in;
  uint8_t *out;
  size_t bytes;
  bool is_done = false;

  void run() {
    int produced = 0;
    is_done = EVP_CipherInit_ex2(context, nullptr, nullptr, iv, -1, nullptr) == 1 &&
              EVP_CipherUpdate(context, out, &produced, in, static_cast<int>(bytes)) == 1 &&
              static_cast<size_t>(produced) == bytes;
  }
};

}  // namespace

CoresEngine::CoresEngine(const BlockCipherMode &cipher, bool encrypt, const SecretBytes &key,
                         const Input &input)
    : cipher_(cipher), encrypt_(encrypt), key_(key), input_(input) {
  contexts_.push_back(take_context());  // if OpenSSL fails, it fails here and not on a worker
                                        // thread
}

bool CoresEngine::is_quick(const BlockCipherMode &cipher) {
  const SecretBytes key(cipher.key_bytes);
  const Block iv{};
  const EvpContext context = make_context(cipher, false, key);
  std::vector<uint8_t> data(kTrialBytes);
  Update update{context.get(), cipher.iv_bytes() != 0 ? iv.data() : nullptr, data.data(),
                data.data(), data.size()};
  for (unsigned n = 0; n < kTrials; n++) {
    const auto start = std::chrono::steady_clock::now();
    update.run();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (static_cast<double>(kTrialBytes) >= kQuickBytesPerSecond * taken.count()) return true;
  }
  return false;
}

bool CoresEngine::make_buffers(size_t bytes, uint8_t **in, uint8_t **out) {
  // Not initialised: the thread that uses the memory is the first to write it.
  std::unique_ptr<uint8_t[]> both(new (std::nothrow) uint8_t[bytes]);
  if (!both) return false;
  *in = *out = both.get();
  const std::lock_guard lock(mutex_);
  buffers_.push_back(std::move(both));
  return true;
}

void CoresEngine::start(Chunk &chunk, Done done) {
  if (chunk.work_bytes != 0) {
    EvpContext context = take_context();
    Update update{context.get(), cipher_.iv_bytes() != 0 ? chunk.iv.data() : nullptr, chunk.in,
                  chunk.out, chunk.work_bytes};
    if (!run_unless_bus_error([](void *what) { static_cast<Update *>(what)->run(); }, &update))
      input_.throw_bus_error();
    if (!update.is_done)
      throw Failure(ExitCode::kFailed, fmt::format("{} failed in OpenSSL", cipher_.name));
    const std::lock_guard lock(mutex_);
    contexts_.push_back(std::move(context));
  }
  done(nullptr);
}

EvpContext CoresEngine::take_context() {
  {
    const std::lock_guard lock(mutex_);
    if (!contexts_.empty()) {
      EvpContext context = std::move(contexts_.back());
      contexts_.pop_back();
      return context;
    }
  }
  return make_context(cipher_, encrypt_, key_);
}

}  // namespace lanecrypt::cli
