// A key of a signature that withstands quantum computers: a key of OpenSSL's default provider,
// which checks, keeps and shows it, and beside it what a device needs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/evp.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "provider/provider.h"

namespace lanecrypt::provider {

struct PqType {
  // OpenSSL's name, for fetching its own implementation, and its list of names with aliases and
  // object identifiers.
  const char *name, *names;
  lc_ml_dsa_set set;
  size_t signature_bytes;
};
// FIPS 204, table 2; RFC 9881, section 2.
inline constexpr PqType kPqTypes[] = {
    {"ML-DSA-44", "ML-DSA-44:MLDSA44:2.16.840.1.101.3.4.3.17:id-ml-dsa-44", LC_ML_DSA_44, 2420},
    {"ML-DSA-65", "ML-DSA-65:MLDSA65:2.16.840.1.101.3.4.3.18:id-ml-dsa-65", LC_ML_DSA_65, 3309},
    {"ML-DSA-87", "ML-DSA-87:MLDSA87:2.16.840.1.101.3.4.3.19:id-ml-dsa-87", LC_ML_DSA_87, 4627},
};

// OpenSSL's core and the operations under way share it. While somebody imports into a key,
// nobody else has it.
class PqKey {
 public:
  PqKey(Provider &provider, const PqType &type) : provider_(provider), type_(type) {}

  PqKey *take() {
    owners_.fetch_add(1, std::memory_order_relaxed);
    return this;
  }
  // nullptr is allowed.
  static void release(PqKey *key) {
    if (key != nullptr && key->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete key;
  }

  Provider &provider() const { return provider_; }
  const PqType &type() const { return type_; }
  // nullptr until something is imported.
  EVP_PKEY *fallback() const { return fallback_; }
  // Takes over the caller's reference. False if the key cannot be read.
  bool set_fallback(EVP_PKEY *key);
  bool has_public() const { return has_public_; }
  bool has_private() const { return has_private_; }
  // The hash of the public key, which precedes every message; with a public key alone.
  const std::array<uint8_t, 64> &tr() const { return tr_; }

  // Made at the first call. nullptr if no device takes this key: it is no private key.
  const lc_ml_dsa_key *for_device();
  // False once it has said no.
  bool may_suit_device() const { return !is_unfit_.load(std::memory_order_relaxed); }

 private:
  ~PqKey();
  bool look_at(const OSSL_PARAM params[]);

  Provider &provider_;
  const PqType &type_;
  std::atomic<int> owners_{1};
  EVP_PKEY *fallback_ = nullptr;
  bool has_public_ = false, has_private_ = false;
  std::array<uint8_t, 64> tr_ = {};

  std::once_flag once_;
  lc_ml_dsa_key *device_key_ = nullptr;
  std::atomic<bool> is_unfit_{false};
};

// A key of the default provider's, of such parameters. nullptr with an error raised.
EVP_PKEY *make_fallback_pq_key(Provider &provider, const PqType &type, int selection,
                               const OSSL_PARAM params[]);

}  // namespace lanecrypt::provider
