// The ciphers that the provider offers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>

#include "job/cipher/cipher_info.h"
#include "lanecrypt/lanecrypt.h"
#include "provider/provider.h"

namespace lanecrypt::provider {

// UpdateTracking says what must be noted of an update that OpenSSL's context does alone.
enum class UpdateTracking {
  kPlain,   // nothing
  kBlocks,  // the bytes that the context holds back
  // The position in the stream.
  kChaCha20,
  kMessage,  // the number of bytes of the message (authenticated modes)
};

struct Algorithm {
  const char *names;  // in the format of OSSL_ALGORITHM, OpenSSL's first name first
  lc_cipher cipher;
  unsigned mode;  // EVP_CIPH_*_MODE
  unsigned key_bytes;
  unsigned iv_bytes;
  unsigned block_bytes;  // as OpenSSL reports it: 1 for a stream
  unsigned since;        // 100 * major + minor of the first OpenSSL version that has it

  constexpr const CipherInfo &traits() const { return cipher_info(cipher); }
  // Whether an update is one data unit, which leaves the IV unchanged.
  constexpr bool has_data_units() const { return traits().has_data_units(); }
  // Whether an update is a message or a data unit, which cannot be processed in parts.
  constexpr bool takes_whole() const { return has_data_units() || traits().tail_bytes != 0; }
  // Whether the context may hold back a block at the end of the input.
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
  // The size in bytes of the units into which a stream is divided; larger than block_bytes if that
  // is 1.
  unsigned unit_bytes() const { return traits().is_block_cipher() ? 16 : 64; }
  // Whether a stream may stop within a unit. OpenSSL then reports the position.
  bool counts_within_unit() const { return block_bytes == 1 && !has_data_units(); }
};

// kAlgorithms is indexed by CipherState::index.
extern const Algorithm kAlgorithms[kCipherCount];

// cipher_operations() returns the list for OSSL_FUNC_provider_query_operation.
const OSSL_ALGORITHM *cipher_operations();

}  // namespace lanecrypt::provider
