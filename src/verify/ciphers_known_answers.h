// What a device must answer before it is trusted: the examples of the standards, and a
// long message whose answer the CPU gives.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "job/cipher/cipher_job.h"

namespace lanecrypt::verify {

struct CipherKnownAnswer {
  CipherKind kind;
  std::vector<uint8_t> key;
  Iv iv;
  uint64_t data_unit_bytes;  // XTS
  std::vector<uint8_t> input, expected;
  std::vector<uint8_t> nonce, aad, tag;  // of authenticated modes

  std::string subject() const { return "output of " + kind.name(); }
};

// For every kind of a block cipher, or, for nullptr, those that are none's: an example, where
// there is one (SP 800-38A, appendix F; for authenticated modes those of GCM's authors, of
// RFC 8439, 2.8.2, and of RFC 8998), and one message that reaches every group of a large
// device. OpenSSL computes the expected output of the latter. None of it is secret. The
// emulator has few groups, and tests open it thousands of times, so there most of the long
// messages are an eighth as long (`is_emulated`).
Result<std::vector<CipherKnownAnswer>> ciphers_known_answers(const BlockCipher *block,
                                                             bool is_emulated);

}  // namespace lanecrypt::verify
