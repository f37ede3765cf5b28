// SPDX-License-Identifier: Apache-2.0
#include "job/cipher/cipher_overlap.h"

namespace lanecrypt {
namespace {

// `extents` are those of the messages, or nullptr if they are not known.
Status check(const CipherJob &job, uint64_t given, const MessageExtents *extents, bool joins_tags) {
  const bool is_aead = job.kind.info().is_aead, encrypts = job.kind.direction == LC_ENCRYPT;
  const auto places = [&](size_t n) {
    return is_aead ? places_of(job.messages[n], job.aead[n], job.tag_bytes, encrypts, joins_tags)
                   : places_of(job.messages[n]);
  };
  const auto extent = [extents](Extent MessageExtents::*kind) {
    return extents == nullptr ? nullptr : &(extents->*kind);
  };
  Overlaps overlaps([&](size_t n) { return job.messages[n].number; });
  const size_t count = job.messages.size();
  overlaps.writes(
      "output", count, [&](size_t n) { return places(n).out; }, extent(&MessageExtents::out));
  overlaps.reads(
      "input", count, [&](size_t n) { return places(n).in; }, extent(&MessageExtents::in));
  if (!is_aead) return overlaps.check();
  const auto tag = [&](size_t n) { return places(n).tag; };
  if (encrypts)
    overlaps.writes("tag", count, tag, extent(&MessageExtents::tag));
  else
    overlaps.reads("tag", count, tag, extent(&MessageExtents::tag));
  overlaps.reads(
      "additional data", count, [&](size_t n) { return places(n).aad; },
      extent(&MessageExtents::aad));
  overlaps.writes(
      "part", count, [&](size_t n) { return places(n).part; }, extent(&MessageExtents::part));
  add_statuses(job, given, &overlaps);
  return overlaps.check();
}

}  // namespace

void add_statuses(const CipherJob &job, uint64_t count, Overlaps *overlaps) {
  if (job.message_status != nullptr)
    overlaps->writes_all("array message_status",
                         MemoryRange(job.message_status, count * sizeof *job.message_status));
  if (job.verdicts != nullptr)
    overlaps->writes_all("array of verdicts", MemoryRange(job.verdicts, count));
}

Status check_overlaps(const CipherJob &job, uint64_t count, const MessageExtents &extents) {
  const Status status = check(job, count, &extents, true);
  return status.ok() ? status : check(job, count, nullptr, false);
}

}  // namespace lanecrypt
