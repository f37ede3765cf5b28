// Segments of one text, which the device makes into what a launch of an authenticated mode wants:
// the host plans three of them, the first, one between and the last.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>

#include "job/round_up.h"
#include "launch/aead_launch.h"
#include "launch/block_parts.h"

namespace lanecrypt::runtime {
namespace {

using device::Argument;

// About as many bytes as a run has, but such that runs of a segment are about alike.
uint64_t even_run(uint64_t run_bytes, uint64_t segment_bytes, uint64_t tile) {
  const uint64_t runs = std::max<uint64_t>((segment_bytes + run_bytes / 2) / run_bytes, 1);
  return divide_up(divide_up(segment_bytes, runs), tile) * tile;
}

}  // namespace

bool AeadLaunch::are_unaligned(const SegmentRule &rule) {
  const auto bits = [&](const SegmentPlaces &places) {
    return places.first | (rule.count > 1 ? places.second | places.stride : 0);
  };
  return (bits(rule.in) | bits(rule.out)) % kBlockBytes != 0;
}

std::array<uint64_t, 3> AeadLaunch::segment_counts(const SegmentRule &rule) {
  return {1, rule.count > 2 ? rule.count - 2 : 0, rule.count > 1 ? 1u : 0u};
}

// Runs are as list_runs() makes them, and batches as plan_batches().
void AeadLaunch::plan_segments(const CipherWork &work, AeadWork &aead) const {
  SegmentRule &rule = aead.segments->rule;
  const bool gcm = work.kind.is_gcm();
  const std::array<uint64_t, 3> count = segment_counts(rule);
  uint64_t bytes = 0;
  for (size_t n = 0; n < count.size(); ++n) bytes += count[n] * rule.shapes[n].length;
  const uint64_t longest = rule.shapes[rule.count > 1 ? SEGMENT_BETWEEN : SEGMENT_FIRST].length;
  const uint64_t tile = least_run_bytes(work.kind);
  // All runs of a key of GCM go by its matrices. Poly1305 has a key for each segment, and takes
  // whole tiles.
  const bool all_by_matrix = gcm && has_matrices_ && bytes >= kWorthMatrices && longest >= tile / 2;
  rule.run_bytes = even_run(run_bytes(work.kind, bytes, all_by_matrix), longest, tile);
  aead.levels = levels_for(2 + hash_blocks(longest) + hash_blocks(rule.aad_length));
  const bool may_have_matrices = !gcm && has_matrices_;
  aead.is_unaligned = are_unaligned(rule);
  uint64_t runs = 0, matrix_runs = 0;
  for (size_t n = 0; n < count.size(); ++n) {
    SegmentShape &shape = rule.shapes[n];
    if (all_by_matrix)
      shape.matrix_bytes = shape.length;
    else if (may_have_matrices && shape.length >= kWorthMatrices)
      shape.matrix_bytes = shape.length / tile * tile;
    shape.matrix_runs = static_cast<uint32_t>(divide_up(shape.matrix_bytes, rule.run_bytes));
    shape.runs = shape.matrix_runs + static_cast<uint32_t>(divide_up(
                                         shape.length - shape.matrix_bytes, rule.run_bytes));
    runs += count[n] * shape.runs;
    matrix_runs += count[n] * shape.matrix_runs;
  }
  rule.run_count = static_cast<uint32_t>(runs);
  rule.concurrent_from = rule.count;
  // Additional data are a run of each segment, behind those of all texts.
  const uint32_t aad_runs = aead.has_aad() ? rule.count : 0;
  aead.run_count = rule.run_count + aad_runs;
  aead.thread_runs = static_cast<uint32_t>(runs - matrix_runs) + aad_runs;
  if (matrix_runs == 0) return;
  const uint32_t most = runs_of_batch(work.kind, static_cast<uint32_t>(matrix_runs));
  const auto add_batches = [&](uint32_t first, uint32_t its_runs, uint32_t wanted) {
    const auto set = static_cast<uint32_t>(aead.matrix_sets.size());
    aead.matrix_sets.push_back(wanted);
    for (uint32_t at = 0; at < its_runs; at += most)
      aead.batches.push_back({.first_run = first + at,
                              .run_count = std::min(most, its_runs - at),
                              .matrices = set,
                              .reserved = 0});
  };
  uint32_t first = 0;
  if (gcm) {
    const SegmentPlaces &hashed = rule.opens != 0 ? rule.in : rule.out;
    aead.is_mixed = rule.count > 2 && hashed.stride % kBlockBytes != 0;
    // The first segment may lie otherwise, behind a header.
    const auto skew_of = [&](uint64_t at) {
      return aead.is_mixed ? 0u : uint32_t(at % kBlockBytes);
    };
    const uint32_t skew = skew_of(rule.count > 1 ? hashed.second : hashed.first);
    if (skew_of(hashed.first) != skew) {
      first = rule.shapes[SEGMENT_FIRST].runs;
      add_batches(0, first, GHASH_SET(0, skew_of(hashed.first)));
    }
    return add_batches(first, rule.run_count - first, GHASH_SET(0, skew));
  }
  for (uint32_t n = 0; n < rule.count; ++n) {
    const SegmentShape &shape = rule.shapes[n == 0                ? SEGMENT_FIRST
                                            : n + 1 == rule.count ? SEGMENT_LAST
                                                                  : SEGMENT_BETWEEN];
    if (shape.matrix_runs != 0) add_batches(first, shape.matrix_runs, n);
    first += shape.runs;
  }
}

// The cipher's work: in GCM also H and the masks, which are blocks that the device makes too.
void AeadLaunch::stage_segment_texts(Staging &staging, AeadWorkspace &workspace,
                                     const CipherWork &work, AeadWork &aead) {
  SegmentRule &rule = aead.segments->rule;
  if (!work.kind.is_gcm()) {
    stage_raw_keys(staging, workspace, work);
    staging.reserve(workspace.pieces, rule.count * sizeof(CipherPiece));
    staging.reserve(workspace.wanted, rule.count * sizeof(OneTimeKey));
    staging.reserve(workspace.one_time_keys, uint64_t{rule.count} * POLY1305_KEY_WORDS * 4);
    staging.reserve(workspace.matrices, aead.matrix_sets.size() * POLY1305_MATRIX_WORDS * 4);
    return;
  }
  aead.starts = inner_work(work, Mode::kEcb);
  CipherPiece start = {};
  start.length = kBlockBytes;
  aead.starts.pieces.push_back(start);
  start.in = start.out = kBlockBytes;
  start.length = rule.count * kBlockBytes;
  aead.starts.pieces.push_back(start);
  blocks_.stage(staging, workspace.starts, aead.starts);
  aead.text = gcm_text(work);
  aead.text.keys_of = &workspace.starts;
  std::array<AlikePieces, 3> alike;
  for (size_t n = 0; n < alike.size(); ++n) {
    alike[n].count = segment_counts(rule)[n];
    alike[n].piece.length = rule.shapes[n].length;
    alike[n].piece.iv[3] = 0x02000000u;  // as aead_segments has it
  }
  aead.text.is_unaligned = aead.is_unaligned;
  blocks_.reserve_alike(staging, workspace.text, aead.text, alike);
  for (size_t n = 0; n < alike.size(); ++n) rule.shapes[n].tiles = alike[n].tiles;
  if (aead.text.parts.size() > 1) rule.concurrent_from = aead.text.parts[1].first_piece;
  rule.concurrent_tiles = alike[SEGMENT_BETWEEN].concurrent_tiles;
  staging.reserve(workspace.blocks, (uint64_t{rule.count} + 1) * kBlockBytes);
  staging.reserve(workspace.powers, aead.levels * uint64_t{GHASH_LEVEL_WORDS} * 4);
  staging.reserve(workspace.matrices, aead.matrix_sets.size() * GHASH_MATRIX_WORDS * 4);
}

// The rule, and what goes with it.
void AeadLaunch::stage_rule(Staging &staging, AeadWorkspace &workspace, const SegmentsWork &work) {
  staging.add(workspace.rule, sizeof work.rule, false,
              [&work](uint8_t *place) { memcpy(place, &work.rule, sizeof work.rule); });
  if (work.rule.nonces_are_given != 0) {
    const uint64_t bytes = uint64_t{work.rule.count} * work.rule.nonce_bytes;
    staging.add(workspace.nonces, bytes, false,
                [&work, bytes](uint8_t *place) { memcpy(place, work.nonces, bytes); });
  }
  if (work.update)
    staging.add(workspace.update, sizeof(SegmentGraphUpdate), false, [&work](uint8_t *place) {
      memcpy(place, &work.update->update, sizeof(SegmentGraphUpdate));
    });
}

// The given ones, and room for those of all segments.
void AeadLaunch::stage_segments_aad(Staging &staging, AeadWorkspace &workspace,
                                    const SegmentsWork &work) {
  const SegmentRule &rule = work.rule;
  const uint64_t copies = rule.aad_number_bytes != 0 ? rule.count : 1;
  staging.reserve(workspace.aad, copies * whole_blocks(rule.aad_length));
  if (work.aad == nullptr) return;
  staging.add(workspace.given_aad, rule.aad_length, true,
              [&work](uint8_t *place) { memcpy(place, work.aad, work.rule.aad_length); });
}

Status AeadLaunch::upload_segments(device::Stream &stream, AeadWorkspace &workspace,
                                   CipherWork &work, AeadWork &aead) {
  plan_segments(work, aead);
  // The block cipher of GCM is another work.
  work.is_unaligned = !work.kind.is_gcm() && aead.is_unaligned && device_.properties().warp_shuffle;
  SegmentRule &rule = aead.segments->rule;
  Staging staging(device_);
  stage_segment_texts(staging, workspace, work, aead);
  stage_rule(staging, workspace, *aead.segments);
  if (aead.has_aad()) stage_segments_aad(staging, workspace, *aead.segments);
  staging.reserve(workspace.runs, aead.run_count * sizeof(HashRun));
  staging.reserve(workspace.sums, aead.sum_count * sizeof(HashSum));
  staging.reserve(workspace.checks, rule.count * sizeof(TagCheck));
  reserve_sums(staging, workspace, work, aead);
  staging.add(workspace.batches, aead.batches);
  staging.add(workspace.matrix_sets, aead.matrix_sets);
  staging.reserve(workspace.hashes, (uint64_t{aead.run_count} + 1) * HASH_WORDS * 4);
  LC_TRY(staging.run(stream, workspace.staged));
  aead.starts.in = aead.starts.out = workspace.blocks.get();
  return Status();
}

Status AeadLaunch::launch_next_nonces(device::Stream &stream, AeadWorkspace &workspace,
                                      const SegmentsWork &work) {
  if (!work.update) return Status();
  const Argument next[] = {workspace.rule.get(), workspace.update.get(), work.update->nonce,
                           work.update->verdict};
  return start(stream, "aead_next_nonces", 1, SEGMENT_THREADS, 0, next);
}

Status AeadLaunch::launch_segments(device::Stream &stream, AeadWorkspace &workspace,
                                   const CipherWork &work, const AeadWork &aead) {
  const SegmentRule &rule = aead.segments->rule;
  const bool gcm = work.kind.is_gcm();
  const device::Buffer *const pieces = gcm ? workspace.text.pieces.get() : workspace.pieces.get();
  const std::optional<GraphUpdateWork> &update = aead.segments->update;
  LC_TRY(launch_next_nonces(stream, workspace, *aead.segments));
  const uint64_t thread_blocks =
      divide_up(std::max(rule.count, rule.run_count), blocks_.threads_of(SEGMENT_THREADS));
  const Argument make[] = {workspace.rule.get(),
                           workspace.nonces_of(rule),
                           pieces,
                           workspace.runs.get(),
                           workspace.sums.get(),
                           workspace.checks.get(),
                           gcm ? workspace.blocks.get() : workspace.wanted.get()};
  LC_TRY(start(stream, "aead_segments", thread_blocks, SEGMENT_THREADS, 0, make));
  if (aead.has_aad()) {
    const SegmentsWork &segments = *aead.segments;
    const Argument aad[] = {workspace.rule.get(),
                            segments.aad != nullptr ? workspace.given_aad.get() : segments.aad_base,
                            workspace.aad.get(), workspace.runs.get(), workspace.sums.get()};
    LC_TRY(start(stream, "aead_segments_aad", thread_blocks, SEGMENT_THREADS, 0, aad));
  }
  if (!update || rule.opens != 0) return Status();
  const Argument refuse[] = {workspace.rule.get(),
                             workspace.update.get(),
                             pieces,
                             workspace.runs.get(),
                             workspace.checks.get(),
                             work.out,
                             aead.tags};
  return start(stream, "aead_refuse", thread_blocks, SEGMENT_THREADS, 0, refuse);
}

}  // namespace lanecrypt::runtime
