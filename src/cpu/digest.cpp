// SPDX-License-Identifier: Apache-2.0
#include "cpu/digest.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <atomic>
#include <iterator>
#include <memory>

#include "cpu/rsa/openssl_object.h"
#include "libcrypto/forward.h"

namespace lanecrypt::cpu {
namespace {

Status openssl_refused() { return Status(LC_ERROR_INTERNAL, "OpenSSL failed to hash"); }

// In the order of Digest.
constexpr const char *kNames[] = {"SHA2-256",     "SHA2-384",     "SHA2-512", "SHA2-224",
                                  "SHA2-512/224", "SHA2-512/256", "SHA3-224", "SHA3-256",
                                  "SHA3-384",     "SHA3-512",     "SHAKE128", "SHAKE256"};

// Fetched once each, and never freed, as their library context is.
const EVP_MD *fetched(Digest which) {
  static std::atomic<EVP_MD *> all[std::size(kNames)];
  std::atomic<EVP_MD *> &place = all[size_t(which)];
  EVP_MD *known = place.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  EVP_MD *const made = EVP_MD_fetch(private_library(), kNames[size_t(which)], nullptr);
  // Another thread may have come first.
  if (place.compare_exchange_strong(known, made)) return made;
  EVP_MD_free(made);
  return known;
}

}  // namespace

Status digest(Digest which, std::initializer_list<std::span<const uint8_t>> parts,
              std::span<uint8_t> to) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX *)> context(
      EVP_MD_CTX_new(), [](EVP_MD_CTX *made) { EVP_MD_CTX_free(made); });
  size_t bytes = to.size();
  const bool is_xof = which == Digest::kShake128 || which == Digest::kShake256;
  const OSSL_PARAM length[] = {OSSL_PARAM_size_t(OSSL_DIGEST_PARAM_XOFLEN, &bytes), OSSL_PARAM_END};
  const EVP_MD *const method = fetched(which);
  if (!context || method == nullptr ||
      EVP_DigestInit_ex2(context.get(), method, is_xof ? length : nullptr) != 1)
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
