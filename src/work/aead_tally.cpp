// SPDX-License-Identifier: Apache-2.0
#include "work/aead_tally.h"

#include <algorithm>
#include <cstring>

#include "job/cipher/ccm_format.h"
#include "work/request.h"

namespace lanecrypt::runtime {

Status AeadTally::begin(const CipherJob &job) {
  messages_.resize(job.messages.size());
  for (size_t n = 0; n < job.messages.size(); ++n) {
    Result<Iv> start = cpu::aead_start(job.kind, job.key(job.messages[n].key),
                                       job.ivs.data() + n * job.iv_bytes, job.iv_bytes);
    if (!start.ok()) return start.status();
    messages_[n].start = *start;
    start_over(job, static_cast<uint32_t>(n));
  }
  return Status();
}

Iv AeadTally::mac(uint32_t message) const {
  Iv value;
  memcpy(value.data(), messages_[message].sum.data(), value.size());
  return value;
}

void AeadTally::add(const Request &request, const Piece &piece, const cpu::AeadSum &sum) {
  std::lock_guard lock(mutex_);
  Message &message = messages_[piece.message];
  message.is_touched = true;
  message.bytes_left -= piece.length;
  if (closes(request, piece)) message.is_closed = true;
  cpu::add_aead_sum(request.job.kind, sum, &message.sum);
}

void AeadTally::start_over(const CipherJob &job, uint32_t number) {
  const uint64_t aad_length = job.aead[number].aad_length;
  const uint64_t before = job.kind.is_ccm() ? ccm_header_bytes(aad_length) : aad_length;
  messages_[number] = {.start = messages_[number].start,
                       .bytes_left = before + job.messages[number].length};
}

void AeadTally::set_done(uint32_t message, bool tag_is_wrong) {
  messages_[message].is_done = true;
  messages_[message].tag_is_wrong = tag_is_wrong;
}

// The CPU computes the tag from what is left of the message: its ciphertext or, in place, its
// text.
Result<bool> AeadTally::is_tag_right(const CipherJob &job, uint32_t number) const {
  constexpr uint64_t kPartBytes = 1 << 20;
  const CipherMessage &message = job.messages[number];
  const AeadMessage &aead_message = job.aead[number];
  const bool in_place = message.in == message.out;
  const uint8_t *key = job.key(message.key);
  const Iv &start = messages_[number].start;
  CipherKind kind = job.kind;
  if (in_place) kind.direction = LC_ENCRYPT;
  std::vector<uint8_t> other(kind.is_ccm() ? message.length : std::min(message.length, kPartBytes));
  if (kind.is_ccm()) {
    const cpu::AeadInput input = {key, job.ivs.data() + uint64_t{number} * job.iv_bytes,
                                  job.iv_bytes, aead_message.aad, aead_message.aad_length};
    if (!cpu::takes_whole(kind, input, message.length)) return false;
    std::array<uint8_t, 16> tag = {};
    memcpy(tag.data(), aead_message.tag, job.tag_bytes);
    const Status whole = cpu::run_aead(kind, input, message.in, other.data(), message.length,
                                       tag.data(), job.tag_bytes);
    secure::wipe(other.data(), other.size());
    return whole.ok() && cpu::same_tag(tag.data(), aead_message.tag, job.tag_bytes);
  }
  cpu::AeadSum sum = {};
  const auto add = [&](bool is_aad, uint64_t offset, uint64_t length) {
    const Piece piece = {number, offset, length, {}, false, is_aad};
    const uint8_t *in = is_aad ? aead_message.aad : message.in;
    return cpu::run_aead_piece(kind, key, start,
                               {.in = in + offset,
                                .out = other.data(),
                                .length = length,
                                .offset = offset,
                                .exponent = aead_exponent(job, piece),
                                .is_aad = is_aad},
                               &sum);
  };
  Status status;
  if (aead_message.aad_length != 0) status = add(true, 0, aead_message.aad_length);
  for (uint64_t at = 0; at < message.length && status.ok(); at += kPartBytes)
    status = add(false, at, std::min(kPartBytes, message.length - at));
  if (status.ok())
    status = cpu::close_aead(kind, key, start, aead_message.aad_length, message.length, &sum);
  secure::wipe(other.data(), other.size());
  if (!status.ok()) return status;
  const std::array<uint8_t, 16> tag = cpu::aead_tag(kind, sum);
  secure::wipe(&sum, sizeof sum);
  return cpu::same_tag(tag.data(), aead_message.tag, job.tag_bytes);
}

Status AeadTally::finish(const CipherJob &job) {
  Status status;
  for (size_t n = 0; n < messages_.size() && !job.tags_stay_on_device(); ++n) {
    Message &message = messages_[n];
    const CipherMessage &caller = job.messages[n];
    const AeadMessage &aead_message = job.aead[n];
    bool is_right = message.is_done && !message.tag_is_wrong;
    const bool is_part = aead_message.part != nullptr;
    const bool is_whole = (message.is_closed || is_part) && message.bytes_left == 0;
    if (is_whole && is_part) {
      const Status added =
          cpu::add_aead_part(job.kind, job.key(caller.key), message.start,
                             hash_blocks(caller.length), message.sum, aead_message.part->sum);
      is_right = added.ok();
      if (!is_right) status = added;
    } else if (is_whole) {
      const std::array<uint8_t, 16> tag = cpu::aead_tag(job.kind, message.sum);
      is_right = true;
      if (job.kind.direction == LC_ENCRYPT)
        memcpy(aead_message.tag, tag.data(), job.tag_bytes);
      else
        is_right = cpu::same_tag(tag.data(), aead_message.tag, job.tag_bytes);
      if (!is_right && job.memory == LC_MEMORY_HOST) {
        Result<bool> again = is_tag_right(job, static_cast<uint32_t>(n));
        is_right = again.ok() && *again;
        was_misled_ = was_misled_ || is_right;
      }
    }
    message.tag_is_wrong |= is_whole && !is_right && !is_part;
    if (job.kind.direction == LC_DECRYPT && !is_right && job.memory != LC_MEMORY_DEVICE)
      secure::wipe(caller.out, caller.length);
    if (message.tag_is_wrong)
      status =
          Status(LC_ERROR_TAG, "message " + std::to_string(caller.number) + ": its tag is wrong");
    if (job.message_status != nullptr && (is_whole || message.is_done))
      job.message_status[caller.number] = message.tag_is_wrong ? LC_ERROR_TAG : LC_OK;
  }
  secure::wipe(messages_.data(), messages_.size() * sizeof(Message));
  return status;
}

void AeadTally::withhold(const CipherJob &job) noexcept {
  for (const CipherMessage &message : job.messages)
    if (job.kind.direction == LC_DECRYPT && job.memory != LC_MEMORY_DEVICE)
      secure::wipe(message.out, message.length);
  secure::wipe(messages_.data(), messages_.size() * sizeof(Message));
}

uint64_t aead_exponent(const CipherJob &job, const Piece &piece) {
  const uint64_t end = hash_blocks(piece.offset + piece.length);
  const uint64_t after = hash_blocks(job.messages[piece.message].length) + 2;
  return (piece.is_aad ? hash_blocks(job.aead[piece.message].aad_length) + after : after) - end;
}

bool closes(const Request &request, const Piece &piece) {
  if (request.job.aead[piece.message].part != nullptr) return false;
  return request.job.kind.is_ccm() ? request.ends_message(piece)
                                   : !piece.is_aad && piece.offset == 0;
}

}  // namespace lanecrypt::runtime
