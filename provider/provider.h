// One loaded provider: what all its contexts share.
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

// Whether a cipher of OpenSSL's begins with this mode. It has the three kinds of ciphertext
// stealing by one name, and both standards of XTS where there are two, of which it takes GB's
// if it is told none.
constexpr bool leads_cipher(const CipherInfo &info) {
  if (info.is_cpu_only) return false;  // OpenSSL's default provider has it for everyone
  if (info.steals()) return info.mode == Mode::kCs1;
  return info.mode != Mode::kXts || !info.block->has(Mode::kXtsGb);
}

// Each with each of its keys.
constexpr int count_ciphers() {
  int count = 0;
  for (const CipherInfo &info : kCipherInfos)
    if (leads_cipher(info)) count += std::popcount(info.key_sizes);
  return count;
}
inline constexpr int kCipherCount = count_ciphers();

// Why nothing is asked of devices then.
inline constexpr char kSandboxed[] =
    "the process has sandboxed itself since the provider was loaded";

struct Provider {
  Settings settings;
  ErrorSink errors;
  // Has OpenSSL's own implementation, for all that stays on the CPU. It mirrors the
  // providers of the application's library context.
  OSSL_LIB_CTX *fallback = nullptr;
  // The application's own, which may be freed before this. Only threads of the application use it,
  // and others while such a thread waits for them. We draw from its random generator
  // (program_random.h). If it has loaded the default provider, we use its RSA (fallback.h).
  OSSL_LIB_CTX *program = nullptr;
  // Whether `program` has OpenSSL's default provider: 1 or -1; 0: not looked yet.
  std::atomic<int> program_has_default{0};
  // OpenSSL's default provider, if it had to be loaded into `fallback`.
  std::atomic<OSSL_PROVIDER *> fallback_provider{nullptr};
  // Its ciphers. Each is fetched when the first context needs it. While the provider
  // loads would be too early: the default provider may not be there yet.
  std::atomic<struct FallbackCipher *> fallback_ciphers[kCipherCount] = {};
  // Its RSA (fallback.h): keys of RSA and of RSA-PSS.
  std::atomic<EVP_KEYMGMT *> fallback_rsa_keymgmt[2] = {};
  std::atomic<EVP_SIGNATURE *> fallback_rsa_signature{nullptr};
  std::atomic<EVP_ASYM_CIPHER *> fallback_rsa_cipher{nullptr};
  // Its ML-DSA and SLH-DSA, by the types of pq/pq_type.h, and the hash of ML-DSA.
  std::atomic<EVP_KEYMGMT *> fallback_pq_keymgmt[15] = {};
  std::atomic<EVP_MD *> fallback_shake256{nullptr}, fallback_sha2[2]{};
  // For GCM and for ChaCha20-Poly1305: whether OpenSSL's decryption tells the hash of a
  // message under way. 0: not tried yet; -1: it does not.
  std::atomic<int> tells_tag[2] = {};
  std::atomic<EVP_MAC *> fallback_poly1305{nullptr};
  // Whether a device may be asked now: in_process says so, a device can be used, and the
  // process has not sandboxed itself since the provider was loaded.
  bool may_use_devices() const;
  // The same for threads on several cores.
  bool may_use_cores() const;
  // The library's context. The first call loads the library. nullptr if it cannot be
  // loaded, or takes the list of devices for wrong: then all stays on the CPU.
  lc_context *devices();
  // Why devices() is nullptr; `other` if it is not. Good until this thread's next call of the
  // library.
  const char *why_no_devices(const char *other);
  std::atomic<lc_context *> context{nullptr};
  // Whether the service may be asked now: the process has not sandboxed itself since the
  // provider was loaded. Only where the settings leave something to the service.
  bool may_use_service() const { return !sandbox->had_come_lately(); }
  // Made by the first call. It connects to nothing by itself.
  client::Client &service();
  std::atomic<client::Client *> service_client{nullptr};
  // Whether the process has sandboxed itself since the provider was loaded. It is watched
  // only if the settings would have anything started, opened or written.
  bool is_sandboxed() const { return !sandbox || sandbox->has_come(); }
  std::optional<process::SandboxWatch> sandbox;
  // Why no device is asked any more; nullptr while devices are asked. malloc()ed.
  std::atomic<char *> no_device{nullptr};
  // Whether a request was ever given to a device. Until then nothing may look for
  // devices.
  std::atomic<bool> asked_devices{false};
  // The lost devices that the system's log was told of (device_health.cpp).
  std::atomic<uint64_t> lost_told{0};
  // Whether it was told why there is no context (devices.cpp).
  std::atomic<bool> no_context_told{false};
  Counters counters;

  // The next of the living providers (statistics.cpp).
  Provider *next = nullptr;
  bool in_forked_child = false;
};

}  // namespace lanecrypt::provider
