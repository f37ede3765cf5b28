// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_cipher.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>

#include "cpu/cpu_xts.h"
#include "cpu/openssl_object.h"
#include "libcrypto/forward.h"

namespace lanecrypt::cpu {
namespace {

// Returns whether XTS is computed by ECB, for ciphers other than AES: OpenSSL has XTS of SM4 only
// from 3.2 on.
bool goes_by_ecb(const CipherInfo &info) {
  return info.has_data_units() && info.block != kBlockCiphers;
}

// `Ciphers` is the ciphers of all modes, fetched once. Never freed, because libcrypto may be
// cleaned up earlier at exit.
struct Ciphers {
  Status status;
  OSSL_LIB_CTX *library = nullptr;
  EVP_CIPHER *by_kind[kCipherInfoCount][3] = {};  // by mode and key length: 128, 192, 256 bits

  Ciphers() {
    status = bind_libcrypto_of_process();
    if (!status.ok()) return;
    library = OSSL_LIB_CTX_new();
    // With a null context OpenSSL would use the program's own.
    if (library == nullptr) throw std::bad_alloc();
    // A missing cipher must not leave an error in the caller's error queue.
    ERR_set_mark();
    for (const CipherInfo &info : kCipherInfos) {
      if (goes_by_ecb(info)) continue;
      for (uint32_t size = 0; size < 3; ++size) {
        const uint32_t key_bytes = 16 + 8 * size;
        if (!info.takes_key(key_bytes * info.keys)) continue;
        const std::string name = info.openssl_name(key_bytes * info.keys);
        EVP_CIPHER *cipher = EVP_CIPHER_fetch(library, name.c_str(), "provider=default");
        by_kind[info.cipher][size] = cipher;
        // OpenSSL may be built without ciphers other than AES and ChaCha20.
        if (cipher == nullptr && (info.block == nullptr || info.block == kBlockCiphers))
          status = Status(LC_ERROR_INTERNAL, "OpenSSL's default provider offers no " + name);
      }
    }
    ERR_pop_to_mark();
  }
  ~Ciphers() {
    for (auto &of_mode : by_kind)
      for (EVP_CIPHER *cipher : of_mode) EVP_CIPHER_free(cipher);
    OSSL_LIB_CTX_free(library);
  }
  Ciphers(const Ciphers &) = delete;
};

// Returns all ciphers. It uses no lock, because it must work in a child of fork() whose parent was
// fetching at that moment, which takes milliseconds. If several threads come first at once, each
// fetches, and one result is kept.
Result<const Ciphers *> ciphers() {
  static std::atomic<const Ciphers *> whole{nullptr};
  const Ciphers *all = whole.load(std::memory_order_acquire);
  if (all != nullptr) return all;
  auto made = std::make_unique<Ciphers>();
  // A failure is not kept: a lack of memory is temporary.
  if (!made->status.ok()) return made->status;
  if (whole.compare_exchange_strong(all, made.get(), std::memory_order_acq_rel))
    return made.release();
  return all;
}

Status run_by_ecb(const CipherKind &kind, const CipherInput &input, const uint8_t *in, uint8_t *out,
                  uint64_t length) {
  const uint64_t unit = input.data_unit_bytes != 0 ? input.data_unit_bytes : length;
  Iv number = input.iv;
  for (uint64_t at = 0; at < length; at += unit) {
    LC_TRY(
        run_xts_unit(kind, input.key, number, 0, in + at, out + at, std::min(unit, length - at)));
    number = advance_tweak(number, 1);
  }
  return Status();
}

}  // namespace

Result<const evp_cipher_st *> fetched_cipher(const CipherKind &kind) {
  Result<const Ciphers *> all = ciphers();
  if (!all.ok()) return all.status();
  const EVP_CIPHER *cipher = (*all)->by_kind[kind.cipher][kind.one_key_bytes() / 8 - 2];
  if (cipher != nullptr) return cipher;
  return Status(LC_ERROR_UNSUPPORTED,
                "OpenSSL's default provider offers no " + kind.info().openssl_name(kind.key_bytes));
}

bool has_cipher(const CipherKind &kind) {
  const bool by_ctr = kind.info().is_aead && kind.info().is_block_cipher();
  return fetched_cipher(by_ctr                     ? kind.as(Mode::kCtr, LC_ENCRYPT)
                        : goes_by_ecb(kind.info()) ? kind.as(Mode::kEcb, LC_ENCRYPT)
                                                   : kind)
      .ok();
}

Status run_cipher(const CipherKind &kind, const CipherInput &input, const uint8_t *in, uint8_t *out,
                  uint64_t length) {
  const CipherInfo &info = kind.info();
  if (goes_by_ecb(info)) return run_by_ecb(kind, input, in, out, length);
  Result<const EVP_CIPHER *> cipher = fetched_cipher(kind);
  if (!cipher.ok()) return cipher.status();
  const CipherContext context(EVP_CIPHER_CTX_new());
  if (!context) return Status(LC_ERROR_MEMORY, "no memory for a cipher on the CPU");
  const OSSL_PARAM stealing[] = {
      {OSSL_CIPHER_PARAM_CTS_MODE, OSSL_PARAM_UTF8_STRING, const_cast<char *>(info.openssl_cts),
       info.openssl_cts ? strlen(info.openssl_cts) : 0, 0},
      OSSL_PARAM_END};
  if (EVP_CipherInit_ex2(
          context.get(), *cipher, input.key, info.iv_bytes == 0 ? nullptr : input.iv.data(),
          kind.direction == LC_ENCRYPT, info.openssl_cts != nullptr ? stealing : nullptr) != 1)
    return openssl_failed();
  if (info.granule_bytes == kBlockBytes && EVP_CIPHER_CTX_set_padding(context.get(), 0) != 1)
    return openssl_failed();
  // OpenSSL counts bytes in an int, and processes each update as one data unit.
  const bool has_units = info.has_data_units();
  const uint64_t most = has_units && input.data_unit_bytes != 0 ? input.data_unit_bytes : 1 << 30;
  Iv iv = input.iv;
  for (uint64_t at = 0; at < length;) {
    const int bytes = static_cast<int>(std::min(most, length - at));
    int written = 0;
    if (EVP_CipherUpdate(context.get(), out + at, &written, in + at, bytes) != 1 ||
        written != bytes)
      return openssl_failed();
    at += bytes;
    if (!has_units || at == length) continue;
    iv = advance_tweak(iv, 1);
    if (EVP_CipherInit_ex2(context.get(), nullptr, nullptr, iv.data(), -1, nullptr) != 1)
      return openssl_failed();
  }
  return Status();
}

}  // namespace lanecrypt::cpu
