// One message of an authenticated mode, with OpenSSL's answer.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "batch.h"
#include "reference.h"

namespace lanecrypt::test {

// The output is a separate buffer or the input itself.
class Sealed {
 public:
  Sealed(lc_cipher cipher, lc_direction direction, uint64_t length, bool in_place, Random &random)
      : cipher_(cipher), direction_(direction), key_(32), iv_(12), aad_(random.below(100)) {
    Bytes plain(length), cipher_text(length), tag(16);
    for (Bytes *bytes : {&key_, &iv_, &aad_, &plain}) random.fill(bytes->data(), bytes->size());
    reference_seal({cipher, 32, key_.data(), iv_, aad_}, plain.data(), cipher_text.data(), length,
                   tag.data());
    const bool seals = direction == LC_ENCRYPT;
    in_ = seals ? plain : cipher_text;
    right_ = seals ? cipher_text : plain;
    right_tag_ = tag;
    tag_ = seals ? Bytes(16, 0xa5) : tag;
    if (!in_place) out_.resize(length);
    message_ = plain_message(key_.data(), iv_.data(), in_.data(),
                             in_place ? in_.data() : out_.data(), length);
    message_.aad = aad_.data();
    message_.aad_length = aad_.size();
    message_.tag = tag_.data();
  }
  lc_cipher_job job() const { return job_of(message_, cipher_, direction_); }
  // Returns a job for a part of the message's text.
  lc_cipher_job part(uint64_t from, uint64_t length) {
    part_of_ = message_;
    part_of_.in = static_cast<const uint8_t *>(message_.in) + from;
    part_of_.out = static_cast<uint8_t *>(message_.out) + from;
    part_of_.length = length;
    part_of_.aad_length = 0;
    part_.text_before = from;
    part_of_.part = &part_;
    lc_cipher_job made = job();
    made.messages = &part_of_;
    return made;
  }
  bool text_is_right() const { return (out_.empty() ? in_ : out_) == right_; }
  std::string check() const {
    if (!text_is_right()) return "wrong text of an authenticated message";
    return tag_ == right_tag_ ? "" : "wrong tag";
  }

 private:
  lc_cipher cipher_;
  lc_direction direction_;
  Bytes key_, iv_, aad_, in_, out_, right_, tag_, right_tag_;
  lc_message message_, part_of_;
  lc_aead_part part_ = {};
};

}  // namespace lanecrypt::test
