// SPDX-License-Identifier: Apache-2.0
#include "job/cipher/segments.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "job/cipher/cipher_check.h"
#include "job/cipher/cipher_overlap.h"
#include "job/enum_number.h"
#include "job/round_up.h"

namespace lanecrypt {
namespace {

Status wrong(const std::string &text) { return wrong_argument("segments: " + text); }

// Neither side of a comparison may wrap, so that it is exact.
bool fits(unsigned __int128 value) { return value <= UINT64_MAX / 2; }

bool takes_segments(const CipherInfo &info) {
  return info.is_aead || info.mode == Mode::kCtr || info.mode == Mode::kChaCha20;
}

// Returns whether `count` numbers from the first on fit into their bytes.
bool has_room(const lc_numbering &numbering, uint64_t count) {
  if (count - 1 > UINT64_MAX - numbering.first) return false;
  const uint64_t last = numbering.first + count - 1;
  return numbering.bytes >= 8 || last >> (8 * numbering.bytes) == 0;
}

void put(const lc_numbering &numbering, uint64_t number, uint8_t *to) {
  uint64_t value = numbering.first + number;
  for (uint32_t n = 0; n < numbering.bytes; ++n, value >>= 8)
    to[numbering.at + (numbering.little_endian != 0 ? n : numbering.bytes - 1 - n)] =
        static_cast<uint8_t>(value);
}

Status check_numbering(const lc_numbering &numbering, uint64_t bytes, uint64_t count,
                       const std::string &what) {
  if (numbering.bytes == 0) return Status();
  if (numbering.at > bytes || numbering.bytes > bytes - numbering.at)
    return wrong("the number does not lie within " + what);
  if (!has_room(numbering, count))
    return wrong(std::to_string(count) + " numbers from " + std::to_string(numbering.first) +
                 " on do not fit in " + std::to_string(numbering.bytes) + " bytes of " + what);
  return Status();
}

// Returns how many blocks an IV can count before the bytes around its number change. In CTR the
// bytes after the number count, big-endian; in ChaCha20 the first four, little-endian.
unsigned __int128 countable_blocks(const CipherInfo &info, const lc_segments &segments) {
  const auto *iv = static_cast<const uint8_t *>(segments.nonce);
  uint64_t first = 0;
  uint32_t bytes = 4;
  if (info.mode == Mode::kChaCha20) {
    if (segments.number.at < bytes) return 0;
    for (uint32_t n = bytes; n-- > 0;) first = first << 8 | iv[n];
  } else {
    const uint32_t begin = segments.number.at + segments.number.bytes;
    bytes = std::min<uint32_t>(16 - begin, 7);
    // Only the last 7 bytes can count. Bytes above them must not change either.
    for (uint32_t n = 16 - bytes; n < 16; ++n) first = first << 8 | iv[n];
  }
  return (static_cast<unsigned __int128>(1) << (8 * bytes)) - first;
}

}  // namespace

Segments::Segments(const lc_cipher_job &job, const lc_segments &segments)
    : segments_(segments),
      info_(&cipher_info(job.cipher)),
      direction_(job.direction),
      iv_bytes_(job.iv_bytes != 0 ? job.iv_bytes : info_->iv_bytes),
      tag_bytes_(!info_->is_aead      ? 0
                 : job.tag_bytes != 0 ? job.tag_bytes
                                      : 16) {
  lc_segments &mine = segments_;
  if (mine.first_bytes == 0) mine.first_bytes = mine.segment_bytes;
  const bool is_behind = tag_bytes_ != 0 && mine.tags == nullptr;
  const auto gap = [&](lc_direction of) { return is_behind && direction_ == of ? tag_bytes_ : 0; };
  if (mine.in_stride == 0) mine.in_stride = mine.segment_bytes + gap(LC_DECRYPT);
  if (mine.out_stride == 0) mine.out_stride = mine.segment_bytes + gap(LC_ENCRYPT);
  if (mine.tag_stride == 0) mine.tag_stride = tag_bytes_;
  // If segments are in place, the tag takes space in both input and output.
  if (mine.in == mine.out && is_behind && segments.in_stride == 0 && segments.out_stride == 0)
    mine.in_stride = mine.out_stride = mine.segment_bytes + tag_bytes_;
}

Result<Segments> Segments::read(const lc_cipher_job &job) {
  lc_segments given = {};
  const size_t bytes = job.segments->struct_size;
  if (bytes < kLeastSegmentsBytes) return wrong("struct_size is too small");
  std::memcpy(&given, job.segments, std::min(bytes, sizeof given));
  Segments made(job, given);
  const lc_segments &mine = made.segments_;
  if (mine.segment_bytes == 0) return wrong("segment_bytes is 0");
  if (mine.segment_bytes > UINT64_MAX / 4) return wrong("segment_bytes is too large");
  if (mine.first_bytes > mine.segment_bytes) return wrong("first_bytes is more than segment_bytes");
  const uint64_t rest = mine.text_bytes - std::min(mine.text_bytes, mine.first_bytes);
  made.count_ = 1 + rest / mine.segment_bytes + (rest % mine.segment_bytes != 0 ? 1 : 0);
  LC_TRY(made.check(job));
  return made;
}

uint64_t Segments::length_of(uint64_t number) const {
  if (number == 0) return std::min(segments_.first_bytes, segments_.text_bytes);
  const uint64_t before = segments_.first_bytes + (number - 1) * segments_.segment_bytes;
  return std::min(segments_.segment_bytes, segments_.text_bytes - before);
}

uint64_t Segments::text_bytes(uint64_t number, uint64_t count) const {
  const auto before = [&](uint64_t of) {
    return of == 0 ? 0
                   : std::min(segments_.first_bytes + (of - 1) * segments_.segment_bytes,
                              segments_.text_bytes);
  };
  return before(number + count) - before(number);
}

Segments::Wide Segments::reach(uint64_t stride) const {
  if (count_ == 1) return length_of(0);
  return Wide{stride} * (count_ - 1) - (segments_.segment_bytes - segments_.first_bytes) +
         length_of(count_ - 1);
}

uint64_t Segments::distance(uint64_t stride, uint64_t number) const {
  if (number == 0) return 0;
  return number * stride - (segments_.segment_bytes - segments_.first_bytes);
}

Status Segments::check(const lc_cipher_job &job) const {
  if (!takes_segments(*info_)) return wrong(std::string(info_->title) + " takes none");
  if (job.messages != nullptr || job.message_count != 0)
    return wrong("a job has messages or segments, not both");
  if (count_ > UINT32_MAX) return wrong("more than 2^32 - 1 of them");
  if (segments_.key == nullptr) return wrong("no key");
  if (segments_.nonce == nullptr) return wrong("no nonce");
  if (info_->is_aead) LC_TRY(check_aad());
  LC_TRY(check_nonces());
  return check_places();
}

Status Segments::check_aad() const {
  LC_TRY(
      check_numbering(segments_.aad_number, segments_.aad_length, count_, "the additional data"));
  if (segments_.aad_length != 0 && segments_.aad == nullptr) return wrong("no additional data");
  if (!fits(static_cast<unsigned __int128>(segments_.aad_length) * count_))
    return wrong("their additional data are too long");
  const uint32_t memory = enum_number(segments_.aad_memory);
  if (memory != LC_MEMORY_HOST && memory != LC_MEMORY_DEVICE)
    return wrong("unknown kind of memory " + std::to_string(memory) + " of additional data");
  return Status();
}

Status Segments::check_nonces() const {
  const lc_numbering &number = segments_.number;
  const bool has_flag = segments_.last_flag != 0;
  if (segments_.nonce_stride != 0) {
    if (number.bytes != 0 || has_flag) return wrong("nonces that are given have no number");
    if (count_ > 1 && segments_.nonce_stride < iv_bytes_)
      return wrong("nonce_stride is less than a nonce");
    if (!fits(static_cast<unsigned __int128>(segments_.nonce_stride) * count_))
      return wrong("their nonces reach past the end of memory");
    return Status();
  }
  if (count_ > 1 && number.bytes == 0) return wrong("several would have the same nonce");
  LC_TRY(check_numbering(number, iv_bytes_, count_, "the nonce"));
  if (has_flag && segments_.last_flag_at >= iv_bytes_)
    return wrong("the last flag does not lie within the nonce");
  if (has_flag && number.bytes != 0 && segments_.last_flag_at >= number.at &&
      segments_.last_flag_at - number.at < number.bytes)
    return wrong("the last flag lies within the number");
  if (info_->is_aead) return Status();
  if (has_flag) return wrong(std::string(info_->title) + " has no last flag");
  if (count_ > 1 && blocks_reach_number())
    return wrong("the blocks of one reach the number of the next");
  return Status();
}

bool Segments::blocks_reach_number() const {
  if (info_->is_aead) return false;
  const uint64_t block = info_->is_block_cipher() ? 16 : 64;
  const uint64_t longest = std::min(segments_.segment_bytes, segments_.text_bytes);
  return divide_up(longest, block) > countable_blocks(*info_, segments_);
}

// Checks where all segments are. The properties of a single segment are checked with each of them.
Status Segments::check_places() const {
  const bool is_behind = tag_bytes_ != 0 && segments_.tags == nullptr;
  const bool seals = direction_ == LC_ENCRYPT;
  const uint64_t in_room = segments_.segment_bytes + (is_behind && !seals ? tag_bytes_ : 0);
  const uint64_t out_room = segments_.segment_bytes + (is_behind && seals ? tag_bytes_ : 0);
  if (count_ > 1 && (segments_.in_stride < in_room || segments_.out_stride < out_room))
    return wrong("a stride is less than a segment" + std::string(is_behind ? " with its tag" : ""));
  if (count_ > 1 && tag_bytes_ != 0 && !is_behind && segments_.tag_stride < tag_bytes_)
    return wrong("tag_stride is less than a tag");
  const auto in = reinterpret_cast<uintptr_t>(segments_.in);
  const auto out = reinterpret_cast<uintptr_t>(segments_.out);
  if (segments_.text_bytes != 0 && (in == 0 || out == 0)) return wrong("no input or output");
  const Wide in_bytes = reach(segments_.in_stride) + (is_behind && !seals ? tag_bytes_ : 0);
  const Wide out_bytes = reach(segments_.out_stride) + (is_behind && seals ? tag_bytes_ : 0);
  if (!fits(in_bytes) || !fits(out_bytes) || in_bytes > UINTPTR_MAX - in ||
      out_bytes > UINTPTR_MAX - out || !fits(Wide{segments_.tag_stride} * count_))
    return wrong("they reach past the end of memory");
  if (in == out)
    return count_ == 1 || segments_.in_stride == segments_.out_stride
               ? Status()
               : wrong("in place the strides must be the same");
  if (in < out + out_bytes && out < in + in_bytes) return wrong("input and output overlap");
  return Status();
}

void Segments::add_places(const CipherJob &job, Overlaps *overlaps) const {
  const bool encrypts = direction_ == LC_ENCRYPT, in_place = segments_.in == segments_.out;
  const uint64_t gap = segments_.segment_bytes - segments_.first_bytes;
  // Adds texts, each with `behind` bytes of its tag.
  const auto add_texts = [&](bool are_written, const void *first, uint64_t stride,
                             uint64_t behind) {
    const auto *const at = static_cast<const uint8_t *>(first);
    const auto place = [this, at, stride, behind](size_t n) {
      return MemoryRange(at + distance(stride, n), length_of(n) + behind);
    };
    Extent extent;
    extent.add(place(0));
    if (count_ > 1) extent.add(place(count_ - 1));
    const Period period = {reinterpret_cast<uintptr_t>(at) - gap, count_ > 1 ? stride : 0,
                           segments_.segment_bytes + behind};
    if (are_written)
      overlaps->writes("output", count_, place, &extent, period);
    else
      overlaps->reads("input", count_, place, &extent, period);
  };
  // If segments are in place, the tag that follows a text counts as written: nothing else may be
  // there.
  const uint64_t behind = has_tags_behind() ? tag_bytes_ : 0;
  add_texts(true, segments_.out, segments_.out_stride, encrypts || in_place ? behind : 0);
  if (!in_place) add_texts(false, segments_.in, segments_.in_stride, encrypts ? 0 : behind);
  if (tag_bytes_ != 0 && segments_.tags != nullptr) {
    const auto *const tags = static_cast<const uint8_t *>(segments_.tags);
    const auto place = [this, tags](size_t n) {
      return MemoryRange(tags + n * segments_.tag_stride, tag_bytes_);
    };
    Extent extent;
    extent.add(place(0));
    if (count_ > 1) extent.add(place(count_ - 1));
    const Period period = {reinterpret_cast<uintptr_t>(tags), count_ > 1 ? segments_.tag_stride : 0,
                           tag_bytes_};
    if (encrypts)
      overlaps->writes("tag", count_, place, &extent, period);
    else
      overlaps->reads("tag", count_, place, &extent, period);
  }
  if (!info_->is_aead) return;
  overlaps->reads_all("additional data", MemoryRange(segments_.aad, segments_.aad_length));
  add_statuses(job, count_, overlaps);
}

Status Segments::check_overlaps(const CipherJob &job) const {
  Overlaps overlaps;
  add_places(job, &overlaps);
  return overlaps.check();
}

lc_message Segments::message(uint64_t number, uint8_t *iv, uint8_t *aad) const {
  lc_message made = {};
  made.key = segments_.key;
  made.length = length_of(number);
  made.in = static_cast<const uint8_t *>(segments_.in) + distance(segments_.in_stride, number);
  made.out = static_cast<uint8_t *>(segments_.out) + distance(segments_.out_stride, number);
  std::memcpy(iv, static_cast<const uint8_t *>(segments_.nonce) + number * segments_.nonce_stride,
              iv_bytes_);
  put(segments_.number, number, iv);
  if (segments_.last_flag != 0)
    iv[segments_.last_flag_at] = segments_.is_end != 0 && number == count_ - 1 ? 1 : 0;
  made.iv = iv;
  if (!info_->is_aead) return made;
  made.aad_length = segments_.aad_length;
  made.aad = segments_.aad;
  if (const uint64_t length = numbered_aad_length(); length != 0 && aad != nullptr) {
    std::memcpy(aad + number * length, segments_.aad, length);
    put(segments_.aad_number, number, aad + number * length);
    made.aad = aad + number * length;
  }
  if (segments_.tags != nullptr)
    made.tag = static_cast<uint8_t *>(segments_.tags) + number * segments_.tag_stride;
  else if (direction_ == LC_ENCRYPT)
    made.tag = static_cast<uint8_t *>(made.out) + made.length;
  else
    made.tag = const_cast<uint8_t *>(static_cast<const uint8_t *>(made.in)) + made.length;
  return made;
}

}  // namespace lanecrypt
