// SPDX-License-Identifier: Apache-2.0
#include "work/segment_chunk.h"

#include <algorithm>
#include <cstring>

#include "cpu/tag_arithmetic.h"

namespace lanecrypt::runtime {
namespace {

// They have one key, so that what a launch keeps of each takes less than 1 KiB.
constexpr uint32_t kMostSegments = 1 << 16;

uint64_t address(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

// Some segments of a job, side by side.
struct Range {
  const Segments &segments;
  uint64_t first;
  uint32_t count;

  uint64_t last() const { return first + count - 1; }
  // Bytes from the first one's beginning to the last one's end.
  uint64_t reach(uint64_t stride) const {
    return segments.distance(stride, last()) - segments.distance(stride, first) +
           segments.length_of(last());
  }
};

// Where texts lie, and how many bytes beside the last one belong to them.
Result<SegmentPlaces> find_texts(const Range &range, const void *base, uint64_t stride,
                                 uint64_t further, const DeviceMemory &memory,
                                 const device::Buffer **buffer) {
  const uint64_t begin = range.segments.distance(stride, range.first);
  Result<DeviceAddress> resolved =
      memory.resolve(address(base) + begin, range.reach(stride) + further);
  if (!resolved.ok()) return resolved.status();
  *buffer = resolved->buffer;
  const uint64_t next = range.segments.distance(stride, range.first + 1) - begin;
  return SegmentPlaces{
      .first = resolved->offset, .second = resolved->offset + next, .stride = stride};
}

Status find_tags(const CipherJob &job, const Range &range, const DeviceMemory &memory,
                 ChunkWork &work, SegmentRule &rule) {
  const lc_segments &given = range.segments.given();
  const bool opens = job.kind.direction == LC_DECRYPT;
  rule.tag_bytes = job.tag_bytes;
  rule.check = TAG_IN_MEMORY | (job.verdicts != nullptr ? TAG_HAS_VERDICT : 0);
  if (range.segments.has_tags_behind()) {
    rule.tags = opens ? SEGMENT_TAGS_BEHIND_IN : SEGMENT_TAGS_BEHIND_OUT;
    work.aead.tags = opens ? work.in : work.out;
  } else {
    Result<DeviceAddress> resolved =
        memory.resolve(address(given.tags) + range.first * given.tag_stride,
                       (range.count - 1) * given.tag_stride + job.tag_bytes);
    if (!resolved.ok()) return resolved.status();
    rule.tags = SEGMENT_TAGS_APART;
    rule.tag = {.first = resolved->offset,
                .second = resolved->offset + given.tag_stride,
                .stride = given.tag_stride};
    work.aead.tags = resolved->buffer;
  }
  if (job.verdicts == nullptr) return Status();
  Result<DeviceAddress> resolved = memory.resolve(address(job.verdicts) + range.first, range.count);
  if (!resolved.ok()) return resolved.status();
  rule.verdict = resolved->offset;
  work.aead.verdicts = resolved->buffer;
  return Status();
}

void set_nonces(const CipherJob &job, const Range &range, SegmentsWork &segments) {
  const lc_segments &given = range.segments.given();
  SegmentRule &rule = segments.rule;
  if (given.nonce_stride != 0) {
    rule.nonces_are_given = 1;
    segments.nonces = job.ivs.data() + range.first * job.iv_bytes;
  }
  memcpy(rule.nonce, job.ivs.data(), job.iv_bytes);
  rule.nonce_bytes = job.iv_bytes;
  rule.number = given.number.first + range.first;
  rule.number_at = given.number.at;
  rule.number_bytes = given.number.bytes;
  rule.is_little_endian = given.number.little_endian != 0 ? 1 : 0;
  rule.flag_at = given.last_flag != 0 ? given.last_flag_at : SEGMENT_NO_FLAG;
  rule.is_end = given.is_end != 0 && range.last() + 1 == range.segments.count() ? 1 : 0;
}

Status find_aad(const CipherJob &job, const Range &range, const DeviceMemory &memory,
                SegmentsWork &segments) {
  const lc_segments &given = range.segments.given();
  SegmentRule &rule = segments.rule;
  rule.aad_length = static_cast<uint32_t>(given.aad_length);
  rule.sums_each = rule.aad_length != 0 ? 2 : 1;
  if (rule.aad_length == 0) return Status();
  rule.aad_number = given.aad_number.first + range.first;
  rule.aad_number_at = given.aad_number.at;
  rule.aad_number_bytes = given.aad_number.bytes;
  rule.aad_is_little_endian = given.aad_number.little_endian != 0 ? 1 : 0;
  if (given.aad_memory == LC_MEMORY_HOST) {
    segments.aad = job.aad.data();
    return Status();
  }
  Result<DeviceAddress> resolved = memory.resolve(address(given.aad), given.aad_length);
  if (!resolved.ok()) return resolved.status();
  rule.aad_at = resolved->offset;
  segments.aad_base = resolved->buffer;
  return Status();
}

SegmentShape shape_of(const CipherJob &job, uint64_t length) {
  SegmentShape shape = {};
  shape.length = length;
  const Block lengths =
      cpu::lengths_block(job.kind.info().mode, job.segments->given().aad_length, length);
  memcpy(shape.lengths, lengths.w, sizeof shape.lengths);
  return shape;
}

}  // namespace

Status cut_segments(Request &request, const DeviceMemory &memory, DeviceChunk *chunk) {
  const CipherJob &job = request.job;
  const Segments &segments = *job.segments;
  const lc_segments &given = segments.given();
  Piece piece = request.todo.front();
  const Range range = {
      segments, piece.message,
      static_cast<uint32_t>(std::min<uint64_t>(segments.count() - piece.message, kMostSegments))};
  ChunkWork &work = chunk->work;
  SegmentsWork &made = work.aead.segments.emplace();
  const uint64_t further = segments.has_tags_behind() ? job.tag_bytes : 0;
  const bool opens = job.kind.direction == LC_DECRYPT;
  Result<SegmentPlaces> in =
      find_texts(range, given.in, given.in_stride, opens ? further : 0, memory, &work.in);
  if (!in.ok()) return in.status();
  Result<SegmentPlaces> out =
      find_texts(range, given.out, given.out_stride, opens ? 0 : further, memory, &work.out);
  if (!out.ok()) return out.status();
  made.rule.in = *in;
  made.rule.out = *out;
  made.rule.opens = opens ? 1 : 0;
  made.rule.is_poly = job.kind.is_gcm() ? 0 : 1;
  made.rule.count = range.count;
  set_nonces(job, range, made);
  if (job.kind.info().is_aead) {
    LC_TRY(find_tags(job, range, memory, work, made.rule));
    LC_TRY(find_aad(job, range, memory, made));
  }
  made.rule.shapes[SEGMENT_FIRST] = shape_of(job, segments.length_of(range.first));
  made.rule.shapes[SEGMENT_BETWEEN] = shape_of(job, given.segment_bytes);
  made.rule.shapes[SEGMENT_LAST] = shape_of(job, segments.length_of(range.last()));
  work.aead.tags_stay_on_device = true;
  work.keys = {job.key(0)};

  request.todo.pop_front();
  const uint64_t bytes = segments.text_bytes(range.first, range.count);
  if (bytes != piece.length) {
    Piece rest = piece;
    rest.message += range.count;
    rest.length -= bytes;
    request.todo.push_front(rest);
    piece.length = bytes;
  }
  chunk->pieces = {piece};
  return Status();
}

Result<GraphUpdateWork> find_graph_update(const CipherJob &job, const GraphUpdate &update,
                                          const DeviceMemory &memory) {
  GraphUpdateWork work;
  work.update.next = job.segments->given().number.first;
  work.update.left = update.count;
  const auto find = [&](uint64_t address, uint64_t bytes, const device::Buffer **buffer,
                        uint64_t *at) {
    if (address == 0) return Status();
    Result<DeviceAddress> resolved = memory.resolve(address, bytes);
    if (!resolved.ok()) return resolved.status();
    *buffer = resolved->buffer;
    *at = resolved->offset;
    return Status();
  };
  LC_TRY(find(update.nonce, job.iv_bytes, &work.nonce, &work.update.nonce_at));
  if (update.nonce != 0) work.update.has = GRAPH_UPDATE_HAS_NONCE;
  LC_TRY(find(update.verdict, 1, &work.verdict, &work.update.verdict_at));
  return work;
}

}  // namespace lanecrypt::runtime
