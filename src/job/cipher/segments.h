// A text in segments (lc_segments), and how to derive the message of each segment.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "job/cipher/cipher_info.h"
#include "job/overlap.h"
#include "job/status.h"

namespace lanecrypt {

// The size of the first version of lc_segments. Fields after it may be missing.
constexpr size_t kLeastSegmentsBytes = offsetof(lc_segments, aad_memory);

struct CipherJob;

// `Segments` is the segments of a job, which must outlive it. Thread-safe.
class Segments {
 public:
  // The job must have passed check_job(). Its messages need not be checked.
  static Result<Segments> read(const lc_cipher_job &job);

  uint64_t count() const { return count_; }
  // Returns the caller's struct, with defaults in place of 0. What it points to may no longer
  // exist.
  const lc_segments &given() const { return segments_; }
  bool has_tags_behind() const { return tag_bytes_ != 0 && segments_.tags == nullptr; }
  uint64_t length_of(uint64_t number) const;
  // For modes whose IV counts blocks: returns whether counting the blocks of one segment changes
  // the bytes of the segment's number.
  bool blocks_reach_number() const;
  // Returns the bytes of text of `count` segments from `number` on.
  uint64_t text_bytes(uint64_t number, uint64_t count) const;
  // Returns the distance from the first segment to segment `number`.
  uint64_t distance(uint64_t stride, uint64_t number) const;
  // Returns the bytes of all segments' additional data; 0 if it is the same for all.
  uint64_t aad_bytes() const { return count_ * numbered_aad_length(); }
  // Returns the message of a segment. Its IV is written to `iv`, which has the job's iv_bytes.
  // `aad` is where all additional data is to be, or nullptr if it is the same for all or nobody
  // reads it.
  lc_message message(uint64_t number, uint8_t *iv, uint8_t *aad) const;
  // Adds all that the job reads and writes in the caller's memory.
  void add_places(const CipherJob &job, Overlaps *overlaps) const;
  // Checks whether the job writes memory that it also reads, or writes twice.
  Status check_overlaps(const CipherJob &job) const;

 private:
  Segments(const lc_cipher_job &job, const lc_segments &segments);
  Status check(const lc_cipher_job &job) const;
  Status check_aad() const;
  Status check_places() const;
  Status check_nonces() const;
  uint64_t numbered_aad_length() const {
    return segments_.aad_number.bytes == 0 ? 0 : segments_.aad_length;
  }
  using Wide = unsigned __int128;
  // Returns the bytes from the first segment's beginning to the last one's end.
  Wide reach(uint64_t stride) const;

  lc_segments segments_;  // with defaults in place of 0
  const CipherInfo *info_;
  lc_direction direction_;
  uint32_t iv_bytes_, tag_bytes_;
  uint64_t count_ = 0;
};

}  // namespace lanecrypt
