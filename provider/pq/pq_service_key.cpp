// Exports private keys for the service.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/pq/pq_service_key.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <cstring>
#include <memory>
#include <new>

#include "process/cancellation.h"
#include "provider/dispatch.h"
#include "provider/fallback.h"

namespace lanecrypt::provider {
namespace {

struct Copied {
  secure::KeyMemory &to;
  size_t bytes = 0;
};

int copy(const OSSL_PARAM params[], void *argument) {
  Copied &copied = *static_cast<Copied *>(argument);
  const OSSL_PARAM *const secret = OSSL_PARAM_locate_const(params, OSSL_PKEY_PARAM_PRIV_KEY);
  if (secret == nullptr || secret->data == nullptr || secret->data_size == 0) return 0;
  copied.to = secure::KeyMemory(secret->data_size);
  if (!copied.to.ok(secret->data_size)) return 0;
  std::memcpy(copied.to.data(), secret->data, secret->data_size);
  copied.bytes = secret->data_size;
  return 1;
}

}  // namespace

size_t PqKey::copy_private(secure::KeyMemory &to) const {
  const ErrorMark mark;
  Copied copied{to};
  return EVP_PKEY_export(fallback_, OSSL_KEYMGMT_SELECT_KEYPAIR, called_from_c<copy>, &copied) == 1
             ? copied.bytes
             : 0;
}

bool PqServiceKey::copy_numbers(client::KeyNumbers &to) const {
  size_t bytes = key_.copy_private(to.memory);
  if (bytes == 0) return false;
  if (key_.type().family == PqFamily::kSlhDsa) {
    const size_t n = key_.type().random_bytes;
    if (bytes != 4 * n) return false;
    // The service gets all but SK.prf: SK.seed, PK.seed and PK.root.
    std::memmove(to.memory.data() + n, to.memory.data() + 2 * n, 2 * n);
    bytes = 3 * n;
  }
  to.parts[service::kWholeKey] = {to.memory.data(), bytes};
  return true;
}

PqServiceKey *PqKey::for_service() {
  PqServiceKey *current = service_key_.load(std::memory_order_acquire);
  if (current != nullptr) return current->is_refused() ? nullptr : current;
  if (!has_private_) return nullptr;
  auto made = std::make_unique<PqServiceKey>(*this);
  if (service_key_.compare_exchange_strong(current, made.get(), std::memory_order_acq_rel))
    return made.release();
  return current;
}

void PqKey::forget_service_key() {
  const std::unique_ptr<PqServiceKey> key(service_key_.exchange(nullptr));
  if (key == nullptr || !provider_.may_use_service()) return;
  const process::CancellationOff not_cancelled;
  try {
    const auto session = provider_.service().here().session();
    if (session != nullptr) key->forget_in(*session);
    // a child of fork() without a connection, and so without a session
  } catch (const std::bad_alloc &) {
  }
}

}  // namespace lanecrypt::provider
