// SPDX-License-Identifier: Apache-2.0
#include "device/gl/fragment/piece_passes.h"

#include <algorithm>

namespace lanecrypt::device::gl {
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
  // The block before, where it is input rather than the IV.
  const bool has_before = needs_before_ && (piece.continues != 0 || begun_ != 0);
  const uint32_t before = has_before ? 1 : 0;
  add_run(pass.gather,
          {piece.in + begin - 16 * before, uint64_t{pass.slots} * 16, bytes + 16 * before});
  add_run(pass.scatter, {uint64_t{pass.blocks} * 16, piece.out + begin, bytes});
  PassPiece entry = {pass.blocks,
                     pass.slots + before,
                     needs_before_ ? before : static_cast<uint32_t>(begun_),
                     piece.key,
                     {}};
  std::copy(piece.iv, piece.iv + 4, entry.iv);
  pass.pieces.push_back(entry);
  pass.blocks += static_cast<uint32_t>(blocks);
  pass.slots += static_cast<uint32_t>(blocks) + before;
}

bool PiecePasses::next(Pass &pass) {
  pass.pieces.clear();
  pass.gather.clear();
  pass.scatter.clear();
  pass.slots = pass.blocks = 0;
  for (; at_ < pieces_.size(); ++at_, begun_ = 0) {
    const CipherPiece &piece = pieces_[at_];
    const uint64_t left = (piece.length + 15) / 16 - begun_;
    if (left == 0) continue;
    if (one_key_ && !pass.pieces.empty() && pass.pieces.front().key != piece.key) break;
    // A slot may go to the block before.
    if (pass.slots + 2 > most_slots_ || pass.pieces.size() == kMostPieces) break;
    const uint64_t taken = std::min<uint64_t>(left, most_slots_ - pass.slots - 1);
    add(pass, piece, taken);
    if (taken == left) continue;
    begun_ += taken;
    break;
  }
  return pass.blocks != 0;
}

}  // namespace lanecrypt::device::gl
