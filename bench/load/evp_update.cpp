// SPDX-License-Identifier: Apache-2.0
#include "bench/load/evp_update.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "cli/failure.h"

namespace lanecrypt::bench {

OrdinaryMemory::OrdinaryMemory(uint64_t bytes) : bytes_(bytes) {
  void *const made =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) cli::throw_errno("the system gives no memory", errno);
  data_ = static_cast<uint8_t *>(made);
  // Fails harmlessly on a system without huge pages.
  (void)madvise(made, bytes, MADV_NOHUGEPAGE);
  constexpr uint64_t kPageBytes = 4 << 10;
  for (uint64_t at = 0; at < bytes; at += kPageBytes) data_[at] = 1;
}

OrdinaryMemory::~OrdinaryMemory() { munmap(data_, bytes_); }

const BenchCase &EvpUpdate::usual() {
  static const BenchCase kCase{*cli::find_cipher("aes-128-ctr")};
  return kCase;
}

EvpUpdate::EvpUpdate(BenchCase run) : run_(std::move(run)), alone_(OSSL_LIB_CTX_new()) {
  fetch(alone_, "provider=default");
}

EvpUpdate::EvpUpdate(BenchCase run, const std::string &module, const std::string &devices, By by)
    : run_(std::move(run)),
      // Without a setting the provider might keep the work on the CPU, by what it has measured so
      // far.
      provider_(std::make_unique<ProviderLibrary>(
          module, devices, by == By::kDevice ? "threshold_bytes = 64k" : "prefer = speed")) {
  fetch(provider_->get(), "provider=gpu");
}

EvpUpdate::~EvpUpdate() {
  context_.reset();
  cipher_.reset();
  provider_.reset();
  OSSL_LIB_CTX_free(alone_);
}

void EvpUpdate::fetch(OSSL_LIB_CTX *library, const char *properties) {
  cipher_.reset(EVP_CIPHER_fetch(library, run_.cipher.name.c_str(), properties));
  context_.reset(EVP_CIPHER_CTX_new());
  if (!cipher_ || !context_)
    throw cli::Failure(cli::ExitCode::kFailed,
                       std::string("OpenSSL has no ") + run_.cipher.name + " of " + properties);
}

void EvpUpdate::begin(const BenchData &data) {
  const cli::Block iv = data.iv(run_, 0);
  if (EVP_EncryptInit_ex2(context_.get(), cipher_.get(), data.key(), iv.data(), nullptr) != 1)
    throw cli::Failure(cli::ExitCode::kFailed, "OpenSSL could not start a cipher");
}

void EvpUpdate::update(const uint8_t *in, uint8_t *out, uint64_t bytes) {
  int produced = 0;
  if (EVP_EncryptUpdate(context_.get(), out, &produced, in, static_cast<int>(bytes)) != 1 ||
      static_cast<uint64_t>(produced) != bytes)
    throw cli::Failure(cli::ExitCode::kFailed, "a cipher failed in OpenSSL");
}

uint64_t EvpUpdate::device_bytes() const {
  return provider_ ? provider_->counter("lanecrypt.device-bytes") : 0;
}

uint64_t EvpUpdate::cores_bytes() const {
  return provider_ ? provider_->counter("lanecrypt.cores-bytes") : 0;
}

}  // namespace lanecrypt::bench
