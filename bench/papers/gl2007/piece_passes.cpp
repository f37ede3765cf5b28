// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/gl2007/piece_passes.h"

#include <algorithm>

namespace lanecrypt::bench::gl2007 {
namespace {

void add_run(std::vector<Run> &runs, const Run &run) {
  if (!runs.empty()) {
    Run &last = runs.back();
    if (last.from + last.bytes == run.from && last.to + last.bytes == run.to) {
      last.bytes += run.bytes;
      return;
    }
  }
  runs.push_back(run);
}

}  // namespace

void PiecePasses::add(Pass &pass, const CipherPiece &piece, uint64_t blocks) {
  const uint64_t begin = 16 * begun_, bytes = std::min(piece.length - begin, 16 * blocks);
  const uint64_t at = uint64_t{pass.blocks} * 16;
  add_run(pass.gather, {piece.in + begin, at, bytes});
  add_run(pass.scatter, {at, piece.out + begin, bytes});
  PassPiece entry = {pass.blocks, static_cast<uint32_t>(begun_), piece.key, 0, {}};
  std::copy(piece.iv, piece.iv + 4, entry.iv);
  pass.pieces.push_back(entry);
  pass.blocks += static_cast<uint32_t>(blocks);
}

bool PiecePasses::next(Pass &pass) {
  pass.pieces.clear();
  pass.gather.clear();
  pass.scatter.clear();
  pass.blocks = 0;
  for (; at_ < pieces_.size(); ++at_, begun_ = 0) {
    const CipherPiece &piece = pieces_[at_];
    const uint64_t left = (piece.length + 15) / 16 - begun_;
    if (left == 0) continue;
    if (one_key_ && !pass.pieces.empty() && pass.pieces.front().key != piece.key) break;
    if (pass.blocks == most_blocks_ || pass.pieces.size() == kMostPieces) break;
    const uint64_t taken = std::min<uint64_t>(left, most_blocks_ - pass.blocks);
    add(pass, piece, taken);
    if (taken == left) continue;
    begun_ += taken;
    break;
  }
  return pass.blocks != 0;
}

}  // namespace lanecrypt::bench::gl2007
