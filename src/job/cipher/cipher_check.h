// What a cipher job of the ABI must be, and each of its messages.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "job/cipher/cipher_info.h"
#include "job/status.h"

namespace lanecrypt {

// All but the messages.
Status check_job(const lc_cipher_job &job);
// Where its tags are: those behind the text of segments are where that is.
lc_memory tag_memory_of(const lc_cipher_job &job);

// What is wrong with a message. A job may have very many, and of a right one no text is
// to be made.
enum class Fault : uint8_t {
  kNone,
  kNoKey,
  kNoIv,
  kNoData,
  kGranule,
  kShort,
  kLongUnit,   // more than one data unit may have
  kShortUnit,  // the last data unit is
  kPastMemory,
  kOverlap,
  kNotEcb  // it has what ECB does not: perhaps no cipher was given
};

// Of the messages of one job, which is right and stays.
class MessageRules {
 public:
  explicit MessageRules(const lc_cipher_job &job);

  // What every mode asks; an empty message has nothing to be wrong.
  Fault find_fault(const lc_message &message) const {
    const uint64_t length = message.length;
    if (length == 0) return Fault::kNone;
    if (message.key == nullptr) return Fault::kNoKey;
    if (has_iv_ && message.iv == nullptr) return Fault::kNoIv;
    if (message.in == nullptr || message.out == nullptr) return Fault::kNoData;
    // Powers of two.
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
  // And what a message of an authenticated mode has beside its text.
  Status check_aead(const lc_message &message) const;

 private:
  bool has_short_unit(uint64_t length) const {
    const uint64_t rest = length % unit_bytes_;
    return rest != 0 && rest < 16;
  }

  const lc_cipher_job *job_;
  const CipherInfo *info_;
  bool has_iv_;
  // The cipher's number is that of a field which was left zero.
  bool suspects_ecb_;
  uint64_t granule_bytes_, least_bytes_;
  uint64_t most_bytes_ = UINT64_MAX;
  uint64_t unit_bytes_ = 0;
};

}  // namespace lanecrypt
