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

#include "provider/pq/pq_type.h"
#include "provider/provider.h"
#include "secure/key_memory.h"

namespace lanecrypt::provider {

class PqServiceKey;

// OpenSSL's core and the operations under way share it. While somebody imports into a key,
// nobody else has it.
class PqKey {
 public:
  PqKey(Provider &provider, const PqType &type) : provider_(provider), type_(type) {}
  // A new key around one of the default provider's, which it takes over. nullptr if that is
  // nullptr or cannot be read.
  static PqKey *around(Provider &provider, const PqType &type, EVP_PKEY *made);

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
  // ML-DSA's hash of the public key, which precedes every message. It is computed at the first
  // call, unless the private key has it. Any thread. False with an error raised.
  bool copy_tr(std::array<uint8_t, 64> &to);

  // What a device needs is made at the first call. False if no device takes this key: it is no
  // private key.
  bool make_for_device();
  // False once it has said no.
  bool may_suit_device() const { return !is_unfit_.load(std::memory_order_relaxed); }
  // After make_for_device(), by the key's family.
  const lc_ml_dsa_key *ml_dsa_key() const { return ml_dsa_key_; }
  const lc_slh_dsa_key *slh_dsa_key() const { return slh_dsa_key_; }

  // Copies the private key, and gives its length; 0: it cannot be had.
  size_t copy_private(secure::KeyMemory &to) const;
  // What the service needs (pq_service_key.h), made at the first call. It takes no lock, which a
  // child of fork could inherit held. nullptr: the service does not take this key. Throws
  // std::bad_alloc.
  PqServiceKey *for_service();

 private:
  ~PqKey();
  void forget_service_key();
  void look_at(const OSSL_PARAM params[]);
  bool copy_to_library(const OSSL_PARAM params[]);

  Provider &provider_;
  const PqType &type_;
  std::atomic<int> owners_{1};
  EVP_PKEY *fallback_ = nullptr;
  bool has_public_ = false, has_private_ = false;
  // Threads that come first each compute it. One of them keeps it.
  std::array<uint8_t, 64> tr_ = {};
  enum class Tr { kNone, kWriting, kThere };
  std::atomic<Tr> tr_state_{Tr::kNone};

  std::once_flag once_;
  lc_ml_dsa_key *ml_dsa_key_ = nullptr;
  lc_slh_dsa_key *slh_dsa_key_ = nullptr;
  std::atomic<bool> is_unfit_{false};
  std::atomic<PqServiceKey *> service_key_{nullptr};
};

// A key of the default provider's, of such parameters. nullptr with an error raised.
EVP_PKEY *make_fallback_pq_key(Provider &provider, const PqType &type, int selection,
                               const OSSL_PARAM params[]);

}  // namespace lanecrypt::provider
