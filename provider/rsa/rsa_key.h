// An RSA key: a key of OpenSSL's default provider, which checks, keeps and shows it, and
// beside it what a device needs.
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

// OpenSSL's name of the type, for fetching its own implementation.
const char *name_of(RsaType type);

// The shortest and the longest modulus of a private key that a device takes or makes.
inline constexpr size_t kLeastRsaBits = 1024, kMostRsaBits = 8192;
inline constexpr size_t kMostRsaBytes = kMostRsaBits / 8;

// What a device needs of a private key.
struct RsaDeviceKey {
  lc_rsa_key *key = nullptr;
  // SHA-256 of the private exponent, for implicit rejection.
  uint8_t exponent_hash[32] = {};

  RsaDeviceKey() = default;
  RsaDeviceKey(const RsaDeviceKey &) = delete;
  ~RsaDeviceKey();
};

// OpenSSL's core and the operations under way share it. While somebody imports into a key,
// nobody else has it.
class RsaKey {
 public:
  RsaKey(Provider &provider, RsaType type) : provider_(provider), type_(type) {}

  RsaKey *take() {
    owners_.fetch_add(1, std::memory_order_relaxed);
    return this;
  }
  // nullptr is allowed.
  static void release(RsaKey *key) {
    if (key != nullptr && key->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete key;
  }

  Provider &provider() const { return provider_; }
  RsaType type() const { return type_; }
  // nullptr until something is imported.
  EVP_PKEY *fallback() const { return fallback_; }
  // Takes over the caller's reference, also if it throws std::bad_alloc.
  void set_fallback(EVP_PKEY *key);

  RsaTemplates &templates() { return templates_; }

  // What of `selection`, OSSL_KEYMGMT_SELECT_..., the default provider's key has.
  struct Parts {
    bool is_public = false, is_private = false;
  };
  Parts parts(int selection) const;
  // 0 if the key has no modulus.
  size_t bits() const { return bits_; }
  size_t bytes() const { return modulus_.size(); }
  // Big-endian, bytes() long.
  const uint8_t *modulus() const { return modulus_.data(); }
  // RSA-PSS: the shortest salt that the key allows, or -1 if it restricts nothing.
  int least_salt_bytes() const { return least_salt_bytes_; }

  // Made at the first call. nullptr if no device takes this key: it has no CRT parts or more
  // than two primes, or it is no private key.
  const RsaDeviceKey *for_device();
  // The same for the service (rsa_service_key.h). It takes no lock, which a child of fork could
  // inherit held.
  RsaServiceKey *for_service();
  // False once one of them has said no.
  bool may_suit_device() const { return !is_unfit_.load(std::memory_order_relaxed); }

 private:
  ~RsaKey();
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
