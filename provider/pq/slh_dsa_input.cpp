// Computes the service's input for an SLH-DSA signature.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/pq/slh_dsa_input.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <cstring>
#include <initializer_list>
#include <memory>

#include "cpu/slh/slh_hash.h"
#include "provider/fallback.h"
#include "service/wire/operation_kind.h"

namespace lanecrypt::provider {
namespace {

using Bytes = std::span<const uint8_t>;

bool hash(Provider &provider, cpu::SlhHashKind kind, std::initializer_list<Bytes> parts,
          std::span<uint8_t> to) {
  const bool is_shake = kind == cpu::SlhHashKind::kShake256;
  const EVP_MD *const method = is_shake
                                   ? fallback_shake256(provider)
                                   : fallback_sha2(provider, kind == cpu::SlhHashKind::kSha512);
  const std::unique_ptr<EVP_MD_CTX, SignatureContext::FreeHash> context(EVP_MD_CTX_new());
  size_t length = to.size();
  const OSSL_PARAM params[] = {
      {OSSL_DIGEST_PARAM_XOFLEN, OSSL_PARAM_UNSIGNED_INTEGER, &length, sizeof length, 0},
      OSSL_PARAM_END};
  if (method == nullptr || context == nullptr ||
      EVP_DigestInit_ex2(context.get(), method, is_shake ? params : nullptr) != 1)
    return false;
  for (const Bytes part : parts)
    if (!part.empty() && EVP_DigestUpdate(context.get(), part.data(), part.size()) != 1)
      return false;
  unsigned written = 0;
  return EVP_DigestFinal_ex(context.get(), to.data(), &written) == 1 && written == to.size();
}

}  // namespace

std::optional<SlhDsaInput> make_slh_dsa_input(const SignatureContext &context,
                                              const uint8_t *random, Bytes message) {
  const size_t n = context.type.random_bytes;
  secure::KeyMemory secret;
  const size_t secret_bytes = context.key->copy_private(secret);
  if (secret_bytes != 4 * n) return std::nullopt;
  const Bytes all(secret.data(), secret_bytes);
  const cpu::SlhHashKey key{context.type.is_shake(), all.subspan(n, n), all.subspan(2 * n, n),
                            all.last(n)};
  std::array<uint8_t, 2 + 255> head;
  size_t head_bytes = 0;
  if (context.encoding != 0) {
    head = {0, uint8_t(context.context_bytes)};
    std::memcpy(&head[2], context.context_string.data(), context.context_bytes);
    head_bytes = 2 + context.context_bytes;
  }
  const cpu::SlhHashMessage encoded{{head.data(), head_bytes}, message};
  const auto with_openssl = [&](cpu::SlhHashKind kind, std::initializer_list<Bytes> parts,
                                std::span<uint8_t> to) {
    return hash(context.provider, kind, parts, to);
  };
  SlhDsaInput input;
  input.used = service::find_set(context.type.operation_kind())->input_bytes;
  const std::span<uint8_t> r(input.bytes.data(), n);
  const std::span<uint8_t> digest(input.bytes.data() + n, input.used - n);
  const Bytes opt_rand = random == nullptr ? key.pk_seed : Bytes(random, n);
  if (!cpu::slh_hash_randomizer(key, opt_rand, encoded, r, with_openssl) ||
      !cpu::slh_hash_message(key, r, encoded, digest, with_openssl))
    return std::nullopt;
  return input;
}

}  // namespace lanecrypt::provider
