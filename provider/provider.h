// One loaded provider context: what all its operation contexts share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <atomic>
#include <bit>
#include <optional>
#include <string>

#include "job/cipher/cipher_info.h"
#include "lanecrypt/lanecrypt.h"
#include "process/sandbox.h"
#include "provider/counters.h"
#include "provider/errors.h"
#include "provider/settings.h"
#include "service/client/client.h"

namespace lanecrypt::provider {

// leads_cipher() says whether this mode is the first of the modes that OpenSSL offers as one
// cipher. OpenSSL offers the three variants of ciphertext stealing under one name. It also offers
// both standards of SM4-XTS under one name, with GB/T 17964 as the default.
constexpr bool leads_cipher(const CipherInfo &info) {
  if (info.is_cpu_only) return false;  // only OpenSSL's default provider has it
  if (info.steals()) return info.mode == Mode::kCs1;
  return info.mode != Mode::kXts || !info.block->has(Mode::kXtsGb);
}

// count_ciphers() counts each cipher once per key size.
constexpr int count_ciphers() {
  int count = 0;
  for (const CipherInfo &info : kCipherInfos)
    if (leads_cipher(info)) count += std::popcount(info.key_sizes);
  return count;
}
inline constexpr int kCipherCount = count_ciphers();

// kSandboxed is the reason why no device is used after the process has sandboxed itself.
inline constexpr char kSandboxed[] =
    "the process has sandboxed itself since the provider was loaded";

struct Provider {
  Settings settings;
  ErrorSink errors;
  // fallback is the child library context with OpenSSL's own implementations of everything that
  // stays on the CPU. It mirrors the providers of the application's library context.
  OSSL_LIB_CTX *fallback = nullptr;
  // The application's own, which may be freed before this. Only threads of the application use it,
  // and others while such a thread waits for them. We draw from its random generator
  // (program_random.h). If it has loaded the default provider, we use its RSA (fallback.h).
  OSSL_LIB_CTX *program = nullptr;
  // Whether `program` has OpenSSL's default provider: 1 or -1; 0 if not checked yet.
  std::atomic<int> program_has_default{0};
  // OpenSSL's default provider, if it had to be loaded into `fallback`.
  std::atomic<OSSL_PROVIDER *> fallback_provider{nullptr};
  // The default provider's ciphers. Each is fetched when the first context needs it, not while our
  // provider loads, because the default provider may not be loaded yet.
  std::atomic<struct FallbackCipher *> fallback_ciphers[kCipherCount] = {};
  // The default provider's RSA (fallback.h): the keymgmt of RSA and that of RSA-PSS.
  std::atomic<EVP_KEYMGMT *> fallback_rsa_keymgmt[2] = {};
  std::atomic<EVP_SIGNATURE *> fallback_rsa_signature{nullptr};
  std::atomic<EVP_ASYM_CIPHER *> fallback_rsa_cipher{nullptr};
  // The default provider's ML-DSA and SLH-DSA, indexed by the types of pq/pq_type.h, and the hash
  // functions for ML-DSA.
  std::atomic<EVP_KEYMGMT *> fallback_pq_keymgmt[15] = {};
  std::atomic<EVP_MD *> fallback_shake256{nullptr}, fallback_sha2[2]{};
  // For GCM and for ChaCha20-Poly1305: whether a decrypting context of OpenSSL reveals the tag of
  // the message so far (aead_message.h). 1: yes; 0: not tried yet; -1: no.
  std::atomic<int> tells_tag[2] = {};
  std::atomic<EVP_MAC *> fallback_poly1305{nullptr};
  // may_use_devices() says whether a device may be used now: in_process is set, a device is usable,
  // and the process has not sandboxed itself since the provider was loaded.
  bool may_use_devices() const;
  // may_use_cores() says the same of threads on several cores.
  bool may_use_cores() const;
  // devices() returns the library's context. The first call loads the library. It returns nullptr
  // if the library cannot be loaded or rejects the list of devices; then everything stays on the
  // CPU. Thread-safe. Afterwards the lc_...() functions, which library.cpp defines, call the
  // library.
  lc_context *devices();
  // why_no_devices() returns the reason why devices() returned nullptr, or `other` if it did not.
  // The text is valid until this thread's next call of the library.
  const char *why_no_devices(const char *other);
  std::atomic<lc_context *> context{nullptr};
  // may_use_service() says whether the service may be used now: the process has not sandboxed
  // itself since the provider was loaded. It may only be called if the settings leave something to
  // the service.
  bool may_use_service() const { return !sandbox->had_come_lately(); }
  // service() returns the client of the service, which the first call creates. It does not connect.
  // Thread-safe.
  client::Client &service();
  std::atomic<client::Client *> service_client{nullptr};
  // is_sandboxed() says whether the process has sandboxed itself since the provider was loaded.
  // `sandbox` exists only if the settings let the provider start a thread, or open or write a file.
  bool is_sandboxed() const { return !sandbox || sandbox->has_come(); }
  std::optional<process::SandboxWatch> sandbox;
  // Why devices are no longer used; nullptr while they are. Allocated by malloc().
  std::atomic<char *> no_device{nullptr};
  // True once a request was given to a device. Before that, nothing may enumerate the devices.
  std::atomic<bool> asked_devices{false};
  // A bit for each lost device that the system log has reported (device_health.cpp).
  std::atomic<uint64_t> lost_told{0};
  // True once the system log has the reason why there is no library context (devices.cpp).
  std::atomic<bool> no_context_told{false};
  Counters counters;

  // The next provider in the list of loaded ones (statistics.cpp).
  Provider *next = nullptr;
  bool in_forked_child = false;
};

}  // namespace lanecrypt::provider
