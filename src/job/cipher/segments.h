// A text in segments (lc_segments): what each of its messages is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "job/cipher/cipher_info.h"
#include "job/overlap.h"
#include "job/status.h"

namespace lanecrypt {

// What lc_segments had when it came to be; what later versions have behind that may be missing.
constexpr size_t kLeastSegmentsBytes = offsetof(lc_segments, aad_memory);

struct CipherJob;

// Of a job that stays. Any thread.
class Segments {
 public:
  // The job must have passed check_job(), but for its messages.
  static Result<Segments> read(const lc_cipher_job &job);

  uint64_t count() const { return count_; }
  // As the caller gave them, with what 0 stands for. What it points to may be gone.
  const lc_segments &given() const { return segments_; }
  bool has_tags_behind() const { return tag_bytes_ != 0 && segments_.tags == nullptr; }
  uint64_t length_of(uint64_t number) const;
  // Modes whose IV counts blocks: whether it counts so far in one segment that it comes to the
  // number.
  bool blocks_reach_number() const;
  // Bytes of text of so many of them from one on.
  uint64_t text_bytes(uint64_t number, uint64_t count) const;
  // From the first segment to another.
  uint64_t distance(uint64_t stride, uint64_t number) const;
  // Bytes that hold every segment's additional data; 0 where they are the same for all.
  uint64_t aad_bytes() const { return count_ * numbered_aad_length(); }
  // The message of a segment. Its IV is `iv`, of the job's iv_bytes, which this fills. `aad` is
  // where all additional data are to lie, or nullptr where these are the same or nobody reads them.
  lc_message message(uint64_t number, uint8_t *iv, uint8_t *aad) const;
  // Adds all that their job reads and writes in the caller's memory.
  void add_places(const CipherJob &job, Overlaps *overlaps) const;
  // Whether the job writes where it also reads, or writes something else.
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
  // From the first segment's beginning to the last one's end.
  Wide reach(uint64_t stride) const;

  lc_segments segments_;  // with what 0 stands for
  const CipherInfo *info_;
  lc_direction direction_;
  uint32_t iv_bytes_, tag_bytes_;
  uint64_t count_ = 0;
};

}  // namespace lanecrypt
