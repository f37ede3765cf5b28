// SPDX-License-Identifier: Apache-2.0
#include "cpu/openssl_hash.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <atomic>
#include <string_view>

#include "libcrypto/forward.h"

namespace lanecrypt::cpu {
namespace {

Status openssl_refused() { return Status(LC_ERROR_INTERNAL, "OpenSSL failed to hash"); }

// Returns the hash, fetched once. It is never freed, like its library context.
const EVP_MD *fetched(std::string_view name) {
  struct Fetched {
    const char *name;
    std::atomic<EVP_MD *> method{nullptr};
  };
  static Fetched all[] = {{"SHA2-224"},     {"SHA2-256"},     {"SHA2-384"}, {"SHA2-512"},
                          {"SHA2-512/224"}, {"SHA2-512/256"}, {"SHA3-224"}, {"SHA3-256"},
                          {"SHA3-384"},     {"SHA3-512"},     {"SHAKE128"}, {"SHAKE256"}};
  for (Fetched &one : all) {
    if (name != one.name) continue;
    EVP_MD *known = one.method.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    EVP_MD *const made = EVP_MD_fetch(private_library(), one.name, nullptr);
    // Another thread may have been faster.
    if (one.method.compare_exchange_strong(known, made)) return made;
    EVP_MD_free(made);
    return known;
  }
  return nullptr;
}

}  // namespace

OpensslHash::OpensslHash(const char *name)
    : has_length_(std::string_view(name).starts_with("SHAKE")),
      digest_(fetched(name)),
      context_(EVP_MD_CTX_new()) {}

Status OpensslHash::run(std::initializer_list<std::span<const uint8_t>> parts,
                        std::span<uint8_t> to) {
  size_t bytes = to.size();
  const OSSL_PARAM length[] = {OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_XOFLEN, &bytes), OSSL_PARAM_END};
  if (digest_ == nullptr || context_ == nullptr ||
      EVP_DigestInit_ex2(context_.get(), digest_, has_length_ ? length : nullptr) != 1)
    return openssl_refused();
  for (const std::span<const uint8_t> part : parts)
    if (!part.empty() && EVP_DigestUpdate(context_.get(), part.data(), part.size()) != 1)
      return openssl_refused();
  unsigned written = 0;
  if (EVP_DigestFinal_ex(context_.get(), to.data(), &written) != 1 || written != to.size())
    return openssl_refused();
  return Status();
}

}  // namespace lanecrypt::cpu
