// Segments of one text in CTR or ChaCha20, whose pieces the device makes: what a graph can do again
// with other counters.
//
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "job/round_up.h"
#include "launch/aead_launch.h"
#include "launch/block_parts.h"

namespace lanecrypt::runtime {

using device::Argument;

Status AeadLaunch::upload_plain_segments(device::Stream &stream, AeadWorkspace &workspace,
                                         CipherWork &work, AeadWork &aead) {
  SegmentRule &rule = aead.segments->rule;
  const std::array<uint64_t, 3> counts = segment_counts(rule);
  Staging staging(device_);
  if (work.kind.info().is_block_cipher()) {
    std::array<AlikePieces, 3> alike;
    for (size_t n = 0; n < alike.size(); ++n) {
      alike[n].count = counts[n];
      alike[n].piece.length = rule.shapes[n].length;
      // No counter is known here. None has more tiles than one at the end of its window.
      alike[n].piece.iv[3] = 0xffff0000u;
    }
    work.is_unaligned = are_unaligned(rule);
    blocks_.reserve_alike(staging, workspace.text, work, alike);
    for (size_t n = 0; n < alike.size(); ++n) rule.shapes[n].tiles = alike[n].tiles;
  } else {
    work.is_unaligned = are_unaligned(rule) && device_.properties().warp_shuffle;
    const uint64_t warp = chacha20_warp(work);
    stage_raw_keys(staging, workspace, work);
    staging.reserve(workspace.pieces, rule.count * sizeof(CipherPiece));
    for (size_t n = 0; n < counts.size(); ++n) {
      SegmentShape &shape = rule.shapes[n];
      shape.tiles = divide_up(divide_up(shape.length, CHACHA20_BLOCK_BYTES), warp);
      aead.tiles += counts[n] * shape.tiles;
    }
  }
  rule.concurrent_from = rule.count;
  stage_rule(staging, workspace, *aead.segments);
  return staging.run(stream, workspace.staged);
}

Status AeadLaunch::launch_plain_segments(device::Stream &stream, AeadWorkspace &workspace,
                                         const CipherWork &work, const AeadWork &aead) {
  const SegmentRule &rule = aead.segments->rule;
  const bool is_block_cipher = work.kind.info().is_block_cipher();
  const device::Buffer *const pieces =
      (is_block_cipher ? workspace.text.pieces : workspace.pieces).get();
  if (is_block_cipher) LC_TRY(blocks_.expand_keys(stream, workspace.text, work));
  LC_TRY(launch_next_nonces(stream, workspace, *aead.segments));
  const uint64_t thread_blocks = divide_up(rule.count, blocks_.threads_of(SEGMENT_THREADS));
  const Argument make[] = {workspace.rule.get(), workspace.nonces_of(rule), pieces};
  LC_TRY(start(stream, "plain_segments", thread_blocks, SEGMENT_THREADS, 0, make));
  if (rule.opens == 0) {
    const Argument refuse[] = {workspace.rule.get(), workspace.update.get(), pieces, work.out};
    LC_TRY(start(stream, "plain_refuse", 8 * uint64_t{device_.properties().compute_units},
                 SEGMENT_THREADS, 0, refuse));
  }
  return is_block_cipher ? blocks_.run(stream, workspace.text, work)
                         : launch_chacha20(stream, workspace, work, aead);
}

}  // namespace lanecrypt::runtime
