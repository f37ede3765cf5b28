// An RSA key: a key of OpenSSL's default provider, which checks, stores and exports it, and in
// addition what a device needs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/evp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "provider/provider.h"
#include "provider/rsa/rsa_template.h"

namespace lanecrypt::provider {

enum class RsaType { kRsa, kRsaPss };

class RsaServiceKey;

// name_of() returns OpenSSL's name of the type, for fetching its own implementation.
const char *name_of(RsaType type);

// The shortest and the longest modulus, in bits, of a private key that a device accepts or
// generates.
inline constexpr size_t kLeastRsaBits = 1024, kMostRsaBits = 8192;
inline constexpr size_t kMostRsaBytes = kMostRsaBits / 8;

// RsaDeviceKey is the private key in the form that a device needs.
struct RsaDeviceKey {
  lc_rsa_key *key = nullptr;
  // SHA-256 of the private exponent, for implicit rejection.
  uint8_t exponent_hash[32] = {};

  RsaDeviceKey() = default;
  RsaDeviceKey(const RsaDeviceKey &) = delete;
  ~RsaDeviceKey();
};

// RsaKey is reference-counted: OpenSSL's core and the operations in progress share it. No other
// thread uses a key during an import.
class RsaKey {
 public:
  RsaKey(Provider &provider, RsaType type) : provider_(provider), type_(type) {}

  // take() adds one reference, which the caller must release().
  RsaKey *take() {
    owners_.fetch_add(1, std::memory_order_relaxed);
    return this;
  }
  // release() drops one reference; nullptr is allowed.
  static void release(RsaKey *key) {
    if (key != nullptr && key->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete key;
  }

  Provider &provider() const { return provider_; }
  RsaType type() const { return type_; }
  // fallback() returns the default provider's key, which this key owns; nullptr until a key is
  // imported.
  EVP_PKEY *fallback() const { return fallback_; }
  // set_fallback() takes ownership of `key`, even if it throws std::bad_alloc.
  void set_fallback(EVP_PKEY *key);

  RsaTemplates &templates() { return templates_; }

  // parts() says which parts of `selection`, a combination of OSSL_KEYMGMT_SELECT_..., the default
  // provider's key has.
  struct Parts {
    bool is_public = false, is_private = false;
  };
  Parts parts(int selection) const;
  // The length of the modulus in bits; 0 if the key has no modulus.
  size_t bits() const { return bits_; }
  size_t bytes() const { return modulus_.size(); }
  // The modulus, big-endian, bytes() long.
  const uint8_t *modulus() const { return modulus_.data(); }
  // RSA-PSS: the shortest salt, in bytes, that the key allows; -1 if it has no restriction.
  int least_salt_bytes() const { return least_salt_bytes_; }

  // for_device() returns the key for devices, which this key owns and the first call makes. It
  // returns nullptr if no device accepts this key: it has no CRT parameters, or more than two
  // primes, or is not a private key. Thread-safe.
  const RsaDeviceKey *for_device();
  // for_service() does the same for the service (rsa_service_key.h). It takes no lock, because a
  // child of fork() could inherit a lock in the locked state.
  RsaServiceKey *for_service();
  // may_suit_device() returns false once for_device() or for_service() has found the key
  // unsuitable.
  bool may_suit_device() const { return !is_unfit_.load(std::memory_order_relaxed); }

 private:
  ~RsaKey();
  // forget_service_key() frees the key for the service, and has the service forget it.
  void forget_service_key();

  Provider &provider_;
  const RsaType type_;
  std::atomic<int> owners_{1};
  EVP_PKEY *fallback_ = nullptr;
  size_t bits_ = 0;
  std::vector<uint8_t> modulus_;
  int least_salt_bytes_ = -1;

  RsaTemplates templates_;
  std::once_flag once_;
  RsaDeviceKey device_key_;
  std::atomic<RsaServiceKey *> service_key_{nullptr};
  std::atomic<bool> is_unfit_{false};
};

}  // namespace lanecrypt::provider
