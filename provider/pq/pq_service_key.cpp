// SPDX-License-Identifier: Apache-2.0
#include "provider/pq/pq_service_key.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <cstring>
#include <memory>

#include "process/cancellation.h"
#include "provider/fallback.h"
#include "provider/pq/signature_context.h"

namespace lanecrypt::provider {
namespace {

int copy(const OSSL_PARAM params[], void *argument) {
  client::KeyNumbers &to = *static_cast<client::KeyNumbers *>(argument);
  const OSSL_PARAM *const secret = OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_PRIV_KEY);
  if (secret == nullptr || secret->data == nullptr || secret->data_size == 0) return 0;
  to.memory = secure::KeyMemory(secret->data_size);
  if (!to.memory.ok(secret->data_size)) return 0;
  std::memcpy(to.memory.data(), secret->data, secret->data_size);
  to.parts[service::kMlDsaKey] = {to.memory.data(), secret->data_size};
  return 1;
}

}  // namespace

bool PqServiceKey::copy_numbers(client::KeyNumbers &to) const {
  const ErrorMark mark;
  return EVP_PKEY_export(key_.fallback(), OSSL_KEYMGMT_SELECT_KEYPAIR, copy, &to) == 1;
}

bool PqServiceKey::is_result(std::span<const uint8_t> in,
                             std::span<const uint8_t> signature) const {
  const ErrorMark mark;
  int is_mu = 1;
  const OSSL_PARAM params[] = {{kMu, OSSL_PARAM_INTEGER, &is_mu, sizeof is_mu, 0}, OSSL_PARAM_END};
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  return context != nullptr &&
         EVP_DigestVerifyInit_ex(context.get(), nullptr, nullptr,
                                 library_of_fallback(key_.provider()), kFallbackProperties,
                                 key_.fallback(), params) == 1 &&
         EVP_DigestVerify(context.get(), signature.data(), signature.size(), in.data(), kMuBytes) ==
             1;
}

PqServiceKey *PqKey::for_service() {
  PqServiceKey *current = service_key_.load(std::memory_order_acquire);
  if (current != nullptr) return current->is_refused() ? nullptr : current;
  if (type_.family != PqFamily::kMlDsa || !has_private_) return nullptr;
  auto made = std::make_unique<PqServiceKey>(*this);
  if (service_key_.compare_exchange_strong(current, made.get(), std::memory_order_acq_rel))
    return made.release();
  return current;
}

void PqKey::forget_service_key() {
  const std::unique_ptr<PqServiceKey> key(service_key_.exchange(nullptr));
  if (key == nullptr || !provider_.may_use_service()) return;
  const process::CancellationOff not_cancelled;
  const auto session = provider_.service().here().session();
  if (session != nullptr) key->forget_in(*session);
}

}  // namespace lanecrypt::provider
