// The ciphers of the provider.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>

#include "job/cipher/cipher_info.h"
#include "lanecrypt/lanecrypt.h"
#include "provider/provider.h"

namespace lanecrypt::provider {

// What must be noted of an update that OpenSSL's context does alone.
enum class UpdateTracking {
  kPlain,   // nothing
  kBlocks,  // what the context holds back
  kChaCha20,
  kMessage,  // the authenticated modes
};

struct Algorithm {
  const char *names;  // as in OSSL_ALGORITHM, OpenSSL's first name first
  lc_cipher cipher;
  unsigned mode;  // EVP_CIPH_*_MODE
  unsigned key_bytes;
  unsigned iv_bytes;
  unsigned block_bytes;  // as OpenSSL sees it: 1 for a stream
  unsigned since;        // 100 * major + minor of the first OpenSSL that has it

  constexpr const CipherInfo &traits() const { return cipher_info(cipher); }
  // An update is a data unit of its own, and leaves the IV unchanged.
  constexpr bool has_data_units() const { return traits().has_data_units(); }
  // An update is a message or a data unit, which cannot be done in parts.
  constexpr bool takes_whole() const { return has_data_units() || traits().tail_bytes != 0; }
  // Whether a block that ends the input may be held back.
  constexpr bool is_block_mode() const { return block_bytes != 1 && !takes_whole(); }
  constexpr bool is_aead() const { return traits().is_aead; }
  bool is_gcm() const { return traits().mode == Mode::kGcm; }
  bool is_ccm() const { return traits().mode == Mode::kCcm; }
  constexpr bool is_chacha20() const {
    return traits().continuation == Continuation::kChaChaCounter;
  }
  constexpr UpdateTracking tracking() const {
    return is_aead()         ? UpdateTracking::kMessage
           : is_chacha20()   ? UpdateTracking::kChaCha20
           : is_block_mode() ? UpdateTracking::kBlocks
                             : UpdateTracking::kPlain;
  }
  bool has_custom_iv() const { return has_data_units() || is_chacha20() || traits().is_aead; }
  // The bytes of the units into which a stream is cut; more than block_bytes where that
  // is 1.
  unsigned unit_bytes() const { return traits().is_block_cipher() ? 16 : 64; }
  // A stream may stop within a unit, and OpenSSL tells where.
  bool counts_within_unit() const { return block_bytes == 1 && !has_data_units(); }
};

// Indexed by the number that every context keeps.
extern const Algorithm kAlgorithms[kCipherCount];

// For OSSL_FUNC_provider_query_operation.
const OSSL_ALGORITHM *cipher_operations();

}  // namespace lanecrypt::provider
