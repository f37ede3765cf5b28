// A key of a post-quantum signature algorithm: a key of OpenSSL's default provider, which checks,
// stores and exports it, and in addition what a device needs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/evp.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "provider/pq/pq_type.h"
#include "provider/provider.h"
#include "secure/key_memory.h"

namespace lanecrypt::provider {

class PqServiceKey;

// PqKey is reference-counted: OpenSSL's core and the operations in progress share it. No other
// thread uses a key during an import.
class PqKey {
 public:
  PqKey(Provider &provider, const PqType &type) : provider_(provider), type_(type) {}
  // around() creates a key that takes ownership of `made`, a key of the default provider. It
  // returns nullptr if `made` is nullptr or cannot be exported.
  static PqKey *around(Provider &provider, const PqType &type, EVP_PKEY *made);

  // take() adds one reference, which the caller must release().
  PqKey *take() {
    owners_.fetch_add(1, std::memory_order_relaxed);
    return this;
  }
  // release() drops one reference; nullptr is allowed.
  static void release(PqKey *key) {
    if (key != nullptr && key->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete key;
  }

  Provider &provider() const { return provider_; }
  const PqType &type() const { return type_; }
  // fallback() returns the default provider's key, which this key owns; nullptr until a key is
  // imported.
  EVP_PKEY *fallback() const { return fallback_; }
  // set_fallback() takes ownership of `key`. It returns false, with an error raised, if the key
  // cannot be exported.
  bool set_fallback(EVP_PKEY *key);
  bool has_public() const { return has_public_; }
  bool has_private() const { return has_private_; }
  // copy_tr() copies tr, the hash of the public key that ML-DSA puts before every message (FIPS
  // 204, Algorithm 7). The first call computes it, unless the private key contains it. Thread-safe.
  // It returns false with an error raised on failure.
  bool copy_tr(std::array<uint8_t, 64> &to);

  // make_for_device() makes the library's key for devices at the first call. It returns false if no
  // device accepts this key, for example because it is not a private key. Thread-safe.
  bool make_for_device();
  // may_suit_device() returns false once make_for_device() has returned false.
  bool may_suit_device() const { return !is_unfit_.load(std::memory_order_relaxed); }
  // The library's key, after make_for_device(); nullptr if the key is of the other family.
  const lc_ml_dsa_key *ml_dsa_key() const { return ml_dsa_key_; }
  const lc_slh_dsa_key *slh_dsa_key() const { return slh_dsa_key_; }

  // copy_private() copies the private key to `to`, and returns its length in bytes; 0 if the key
  // cannot be exported.
  size_t copy_private(secure::KeyMemory &to) const;
  // for_service() returns the key for the service (pq_service_key.h), which this key owns and the
  // first call makes. It takes no lock, because a child of fork() could inherit a lock in the
  // locked state. It returns nullptr if the service does not accept this key. It throws
  // std::bad_alloc.
  PqServiceKey *for_service();

 private:
  ~PqKey();
  // forget_service_key() frees the key for the service, and has the service forget it.
  void forget_service_key();
  // look_at() notes which parts the exported key has, and its tr.
  void look_at(const OSSL_PARAM params[]);
  // copy_to_library() makes the library's key from the exported key.
  bool copy_to_library(const OSSL_PARAM params[]);

  Provider &provider_;
  const PqType &type_;
  std::atomic<int> owners_{1};
  EVP_PKEY *fallback_ = nullptr;
  bool has_public_ = false, has_private_ = false;
  // tr. If several threads need it first, each computes it, and one of them stores it here.
  std::array<uint8_t, 64> tr_ = {};
  enum class Tr { kNone, kWriting, kThere };
  std::atomic<Tr> tr_state_{Tr::kNone};

  std::once_flag once_;
  lc_ml_dsa_key *ml_dsa_key_ = nullptr;
  lc_slh_dsa_key *slh_dsa_key_ = nullptr;
  std::atomic<bool> is_unfit_{false};
  std::atomic<PqServiceKey *> service_key_{nullptr};
};

// make_fallback_pq_key() imports `params` as a key of the default provider. The caller frees the
// result. It returns nullptr with an error raised on failure.
EVP_PKEY *make_fallback_pq_key(Provider &provider, const PqType &type, int selection,
                               const OSSL_PARAM params[]);

}  // namespace lanecrypt::provider
