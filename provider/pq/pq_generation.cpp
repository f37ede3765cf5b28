// Generates SLH-DSA keys.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/pq/pq_generation.h"

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

#include <cstring>

#include "provider/pq/pq_operation.h"
#include "provider/program_random.h"

namespace lanecrypt::provider {
namespace {

// Generating runs FIPS 205, Algorithm 18, slh_keygen_internal, on a device. The input is SK.seed,
// SK.prf and PK.seed, n bytes each. The output is the private key.
class Generating final : public OneOperation {
 public:
  Generating(lc_context *devices, const PqType &type) : devices_(devices), type_(type) {}

  lc_status run(const uint8_t *in, uint8_t *out, lc_result *result) const override {
    const lc_slh_dsa_generation generation = generation_of(in, out);
    return lc_slh_dsa_generate(devices_, &generation, result);
  }
  lc_status submit(const uint8_t *in, uint8_t *out, const lc_completion *completion,
                   lc_ticket **ticket) const override {
    const lc_slh_dsa_generation generation = generation_of(in, out);
    return lc_slh_dsa_submit_generation(devices_, &generation, completion, ticket);
  }

 private:
  lc_slh_dsa_generation generation_of(const uint8_t *in, uint8_t *out) const {
    lc_slh_dsa_generation generation{};
    generation.struct_size = sizeof generation;
    generation.set = lc_slh_dsa_set(type_.set);
    generation.device = LC_ANY_DEVICE;
    generation.count = 1;
    generation.seeds = in;
    generation.keys = out;
    return generation;
  }

  lc_context *const devices_;
  const PqType &type_;
};

OffloadResult generate_on_device(PqOperation &operation, Provider &provider, const PqType &type,
                                 std::span<const uint8_t> seed, EVP_PKEY **made) {
  const size_t n = type.random_bytes;
  // If an ASYNC job is never resumed, its stack is freed without running destructors, so nothing on
  // it owns memory.
  uint8_t seeds[3 * kMostPqRandomBytes], key[4 * kMostPqRandomBytes];
  auto taken = OffloadResult::kFailed;
  bool has_seeds = seed.size() == 3 * n;
  if (has_seeds)
    std::memcpy(seeds, seed.data(), seed.size());
  else
    has_seeds = draw_private(provider, seeds, 3 * n);
  if (has_seeds)
    taken = operation.generate(Generating(provider.devices(), type), {seeds, 3 * n}, {key, 4 * n});
  if (taken == OffloadResult::kDone) {
    const OSSL_PARAM params[] = {{OSSL_PKEY_PARAM_PRIV_KEY, OSSL_PARAM_OCTET_STRING, key, 4 * n, 0},
                                 OSSL_PARAM_END};
    *made = make_fallback_pq_key(provider, type, OSSL_KEYMGMT_SELECT_KEYPAIR, params);
  }
  OPENSSL_cleanse(seeds, sizeof seeds);
  OPENSSL_cleanse(key, sizeof key);
  return taken;
}

}  // namespace

EVP_PKEY *generate_slh_dsa_key(Provider &provider, const PqType &type,
                               std::span<const uint8_t> seed, EVP_PKEY_CTX *fallback) {
  PqOperation operation = PqOperation::generation(provider, type);
  if (!operation.may_go_on()) return nullptr;
  EVP_PKEY *made = nullptr;
  // OpenSSL refuses a seed of a wrong length.
  if (operation.is_for_device() && (seed.empty() || seed.size() == 3 * type.random_bytes) &&
      generate_on_device(operation, provider, type, seed, &made) != OffloadResult::kNotTaken)
    return made;
  if (operation.note(EVP_PKEY_generate(fallback, &made) == 1)) return made;
  EVP_PKEY_free(made);
  return nullptr;
}

}  // namespace lanecrypt::provider
