// What a device must answer before it is trusted with ciphers: the examples of the standards, and a
// long message whose answer the CPU computes.
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
  std::vector<uint8_t> nonce, aad, tag;  // authenticated modes only

  std::string subject() const { return "output of " + kind.name(); }
};

// Returns the known answers for every cipher of `block` or, if it is nullptr, of no block cipher.
// Each has an example, if there is one (SP 800-38A, appendix F; for authenticated modes the GCM
// specification, RFC 8439, 2.8.2, and RFC 8998), and one message that reaches every thread block of
// a large device, whose expected output OpenSSL computes. None of it is secret. The emulator has
// few thread blocks, and tests open it thousands of times, so with `is_emulated` most of the long
// messages are an eighth as long.
Result<std::vector<CipherKnownAnswer>> ciphers_known_answers(const BlockCipher *block,
                                                             bool is_emulated);

}  // namespace lanecrypt::verify
