// SPDX-License-Identifier: Apache-2.0
#include "cpu/digest.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <memory>

#include "cpu/rsa/openssl_object.h"
#include "libcrypto/forward.h"

namespace lanecrypt::cpu {
namespace {

Status openssl_refused() { return Status(LC_ERROR_INTERNAL, "OpenSSL failed to hash"); }

EVP_MD *fetch(const char *name) { return EVP_MD_fetch(private_library(), name, nullptr); }

// Fetched once, and never freed, as their library context is.
const EVP_MD *fetched(Digest which) {
  static const EVP_MD *const all[] = {fetch("SHA2-256"), fetch("SHA2-512"), fetch("SHAKE256")};
  return all[size_t(which)];
}

}  // namespace

Status digest(Digest which, std::initializer_list<std::span<const uint8_t>> parts,
              std::span<uint8_t> to) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX *)> context(
      EVP_MD_CTX_new(), [](EVP_MD_CTX *made) { EVP_MD_CTX_free(made); });
  size_t bytes = to.size();
  const OSSL_PARAM length[] = {OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_XOFLEN, &bytes), OSSL_PARAM_END};
  const EVP_MD *const method = fetched(which);
  if (!context || method == nullptr ||
      EVP_DigestInit_ex2(context.get(), method, which == Digest::kShake256 ? length : nullptr) != 1)
    return openssl_refused();
  for (const std::span<const uint8_t> part : parts)
    if (!part.empty() && EVP_DigestUpdate(context.get(), part.data(), part.size()) != 1)
      return openssl_refused();
  unsigned written = 0;
  if (EVP_DigestFinal_ex(context.get(), to.data(), &written) != 1 || written != to.size())
    return openssl_refused();
  return Status();
}

}  // namespace lanecrypt::cpu
