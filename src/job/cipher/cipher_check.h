// Checks cipher jobs of the ABI and their messages.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "job/cipher/cipher_info.h"
#include "job/status.h"

namespace lanecrypt {

// Checks all of a job except its messages.
Status check_job(const lc_cipher_job &job);
// Returns where the tags are. Tags that follow the text of segments are where the text is.
lc_memory tag_memory_of(const lc_cipher_job &job);

// `Fault` is what is wrong with a message. A job may have very many messages, so no text is made
// for a valid one.
enum class Fault : uint8_t {
  kNone,
  kNoKey,
  kNoIv,
  kNoData,
  kGranule,
  kShort,
  kLongUnit,   // longer than a data unit may be
  kShortUnit,  // the last data unit is too short
  kPastMemory,
  kOverlap,
  kNotEcb  // it has fields that ECB does not use: perhaps no cipher was set
};

// `MessageRules` checks the messages of one job.
class MessageRules {
 public:
  explicit MessageRules(const lc_cipher_job &job);

  // Returns what is wrong with a message by the rules of all modes. An empty message is valid.
  Fault find_fault(const lc_message &message) const {
    const uint64_t length = message.length;
    if (length == 0) return Fault::kNone;
    if (message.key == nullptr) return Fault::kNoKey;
    if (has_iv_ && message.iv == nullptr) return Fault::kNoIv;
    if (message.in == nullptr || message.out == nullptr) return Fault::kNoData;
    // granule_bytes_ is a power of two.
    if ((length & (granule_bytes_ - 1)) != 0) return Fault::kGranule;
    if (length < least_bytes_) return Fault::kShort;
    if (length > most_bytes_) return Fault::kLongUnit;
    if (unit_bytes_ != 0 && has_short_unit(length)) return Fault::kShortUnit;
    const uintptr_t in = reinterpret_cast<uintptr_t>(message.in);
    const uintptr_t out = reinterpret_cast<uintptr_t>(message.out);
    if (length > UINTPTR_MAX - in || length > UINTPTR_MAX - out) return Fault::kPastMemory;
    if (in != out && in < out + length && out < in + length) return Fault::kOverlap;
    if (suspects_ecb_ && (message.tag != nullptr || message.aad_length != 0)) return Fault::kNotEcb;
    return Fault::kNone;
  }
  Status say(Fault fault, const lc_message &message) const;
  // Checks what a message of an authenticated mode has in addition to its text.
  Status check_aead(const lc_message &message) const;

 private:
  bool has_short_unit(uint64_t length) const {
    const uint64_t rest = length % unit_bytes_;
    return rest != 0 && rest < 16;
  }

  const lc_cipher_job *job_;
  const CipherInfo *info_;
  bool has_iv_;
  // Whether the cipher's number is that of a field that was left zero.
  bool suspects_ecb_;
  uint64_t granule_bytes_, least_bytes_;
  uint64_t most_bytes_ = UINT64_MAX;
  uint64_t unit_bytes_ = 0;
};

}  // namespace lanecrypt
