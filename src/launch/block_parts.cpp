// SPDX-License-Identifier: Apache-2.0
#include "launch/block_parts.h"

#include <algorithm>
#include <numeric>

#include "job/round_up.h"

namespace lanecrypt::runtime {
namespace {

uint64_t blocks_of(const CipherKind &kind, const CipherPiece &piece) {
  if (kind.info().continuation == Continuation::kDataUnits) return piece.slots;
  return divide_up(piece.length, kBlockBytes);
}

bool has_windows(const CipherKind &kind) { return kind.info().mode == Mode::kCtr; }

// Where in its window of `size` counters the first of a piece lies.
uint64_t skew_of(const CipherPiece &piece, uint64_t size) {
  const uint32_t last = piece.iv[3];
  return ((last >> 16 & 0xff) << 8 | last >> 24) & (size - 1);
}

uint64_t count_tiles(const CipherKind &kind, BlockForm form, uint32_t rows, uint32_t warp,
                     const CipherPiece &piece) {
  const uint64_t blocks = blocks_of(kind, piece);
  const bool sliced = form == BlockForm::kBitslice;
  const uint64_t blocks_of_thread = sliced ? BLOCK_BITSLICE_BLOCKS : BLOCK_TABLE_BLOCKS;
  if (!has_windows(kind) || rows == 0) return divide_up(blocks, blocks_of_thread * warp);
  const uint64_t columns = sliced ? warp : BLOCK_TABLE_BLOCKS * warp;
  const uint64_t skew = skew_of(piece, uint64_t{256} * rows);
  if (rows == 1) return (skew + blocks - 1) / columns - skew / columns + 1;
  if (blocks == 0) return 0;
  // The columns of the last window that have a block in its first row.
  const uint64_t last = skew + blocks - 1, size = uint64_t{256} * rows;
  return last / size * (256 / columns) + std::min<uint64_t>(last % size, 255) / columns + 1;
}

// As many as leave every warp so many tiles that the last of them, which not
// all warps have, do not count.
uint32_t choose_rows(const CipherKind &kind, BlockForm form, const BlockWarps &warps,
                     uint64_t blocks, uint64_t pieces) {
  if (!has_windows(kind)) return 0;
  if (form == BlockForm::kBitslice) {
    if (!kind.info().block->has_sliced_windows) return 0;
    // Windows that a piece begins or ends in are work for nothing.
    constexpr uint64_t kWindowsEach = 8, kTilesEach = 2;
    for (uint32_t rows = BLOCK_BITSLICE_ROWS; rows >= BLOCK_BITSLICE_FEW_ROWS; rows /= 2) {
      if (blocks >= pieces * kWindowsEach * 256 * rows &&
          blocks >= warps.count * kTilesEach * warps.threads * rows)
        return rows;
    }
    return 0;
  }
  constexpr uint64_t kTilesEach = 16;
  const uint64_t at_once = warps.count * warps.threads * BLOCK_TABLE_BLOCKS;
  uint32_t rows = 1;
  while (rows < BLOCK_MOST_ROWS && blocks >= 2 * rows * kTilesEach * at_once &&
         blocks >= pieces * 2 * rows * 256 * 8)
    rows *= 2;
  return rows;
}

bool can_be_cut(const CipherKind &kind) {
  // Their bitsliced kernels are no match, or their last blocks are apart.
  if (kind.info().is_feedback || kind.info().steals()) return false;
  return kind.info().continuation == Continuation::kNothing ||
         kind.info().continuation == Continuation::kCounter ||
         kind.info().reads_back(kind.direction);
}

// Where one piece is cut in two, the second for bitsliced warps, with so many rows of a window, or
// none; 0: nowhere.
struct Cut {
  uint64_t at = 0;
  uint32_t rows = 0;
};

Cut choose_cut(const CipherKind &kind, const BlockWarps &warps, const CipherPiece &piece) {
  constexpr uint64_t kLeastTrips = 4, kLeastOfFewRows = 2;
  const uint64_t blocks = blocks_of(kind, piece), at_once = warps.concurrent * warps.threads;
  if (at_once == 0) return {};
  const double wanted = warps.share * static_cast<double>(blocks) / static_cast<double>(at_once);
  uint32_t rows = has_windows(kind) ? BLOCK_BITSLICE_ROWS : 0;
  const uint32_t blocks_of_thread = rows != 0 ? rows : BLOCK_BITSLICE_BLOCKS;
  uint64_t taken = static_cast<uint64_t>(wanted / blocks_of_thread + 0.5) * blocks_of_thread;
  if (taken < kLeastTrips * blocks_of_thread) {
    if (rows == 0) return {};
    // With so few trips, one too many would take longer than what the tables have to do.
    rows = BLOCK_BITSLICE_FEW_ROWS;
    taken = static_cast<uint64_t>(wanted / rows) * rows;
    if (taken < kLeastOfFewRows * rows) return {};
  }
  const uint64_t cut = blocks - taken * at_once;
  if (rows == 0) return {cut, 0};
  const uint64_t size = uint64_t{256} * rows, skew = skew_of(piece, size);
  const uint64_t at_window = divide_up(cut + skew, size) * size - skew;
  return {at_window < blocks ? at_window : 0, rows};
}

// How many tiles there are of a piece among those that are alike, and how long a trip of all warps
// that have one each takes, in blocks that the device does meanwhile.
struct Trips {
  uint32_t rows = 0;  // of a window
  uint64_t tiles = 0;
  double time = 0;

  double whole(uint64_t of_tiles, uint64_t warps) const {
    return time * static_cast<double>(divide_up(of_tiles, warps));
  }
};

Trips table_trips(const CipherKind &kind, BlockForm form, const BlockWarps &warps,
                  const AlikePieces &between, uint32_t rows, double concurrent_share) {
  // To begin a tile takes a small part of the time of a row. A piece's first tile takes longer, and
  // falls to some warps more often than to others where tiles and warps have a common divisor.
  constexpr double kBegin = 1.0 / 8, kFirst = 1.0 / 12;
  const uint64_t tiles = count_tiles(kind, form, rows, warps.threads, between.piece);
  const double often =
      static_cast<double>(std::gcd(tiles, warps.count)) / static_cast<double>(tiles);
  const double blocks = (std::max(rows, 1u) + kBegin) * BLOCK_TABLE_BLOCKS * warps.threads;
  return {
      rows, tiles,
      (1 + kFirst * often) * blocks * static_cast<double>(warps.count) / (1 - concurrent_share)};
}

// Those of bitsliced warps, in which a piece takes the least.
Trips concurrent_trips(const CipherKind &kind, const BlockWarps &warps,
                       const AlikePieces &between) {
  // Without windows all rounds are done for each block. Of many pieces a trip takes longer than of
  // one (docs/lab/device-memory.md).
  constexpr double kWithoutWindows = 1.3, kOfPieces = 1.2;
  const BlockCipher &block = *kind.info().block;
  Trips best;
  for (const uint32_t rows : {0u, BLOCK_BITSLICE_FEW_ROWS}) {
    if (rows != 0 && !(has_windows(kind) && block.has_sliced_windows)) continue;
    const double blocks_of_thread = rows != 0 ? rows : kWithoutWindows * BLOCK_BITSLICE_BLOCKS;
    const Trips trips = {
        rows, count_tiles(kind, BlockForm::kBitslice, rows, warps.threads, between.piece),
        kOfPieces * blocks_of_thread * warps.threads * static_cast<double>(warps.concurrent) /
            warps.share};
    if (best.tiles == 0 ||
        static_cast<double>(trips.tiles) * trips.time < static_cast<double>(best.tiles) * best.time)
      best = trips;
  }
  return best;
}

// How pieces that are alike are done soonest: by tables with windows of so many rows, and the last
// pieces by bitsliced warps.
struct AlikePlan {
  uint32_t table_rows = 0, concurrent_rows = 0;
  uint64_t concurrent_pieces = 0;
};

AlikePlan plan_alike(const CipherKind &kind, BlockForm form, const BlockWarps &warps,
                     const AlikePieces &between, uint64_t pieces, uint32_t most_rows) {
  constexpr uint64_t kLeastTrips = 2, kLeastPieces = 2;
  constexpr double kWorthIt = 0.99;
  const bool may_be_concurrent =
      form == BlockForm::kTable4 && can_be_cut(kind) && warps.concurrent != 0;
  const double share = may_be_concurrent ? warps.share : 0;
  const Trips concurrent = share != 0 ? concurrent_trips(kind, warps, between) : Trips();
  AlikePlan plan = {most_rows, concurrent.rows, 0};
  double least = 0;
  for (uint32_t rows = most_rows;; rows /= 2) {
    // More windows with fewer rows begin, but fewer tiles of a last trip are empty.
    const Trips tables = table_trips(kind, form, warps, between, rows, share);
    const auto consider = [&](uint64_t concurrent_pieces, double concurrent_end) {
      const double end = std::max(
          concurrent_end, tables.whole((pieces - concurrent_pieces) * tables.tiles, warps.count));
      if (least != 0 && end >= (rows < plan.table_rows ? kWorthIt : 1) * least) return;
      least = end;
      plan.table_rows = rows;
      plan.concurrent_pieces = concurrent_pieces;
    };
    consider(0, 0);
    for (uint64_t trips = kLeastTrips; concurrent.tiles != 0; ++trips) {
      const double end = static_cast<double>(trips) * concurrent.time;
      if (end >= least) break;
      const uint64_t its_pieces =
          std::min(trips * warps.concurrent / concurrent.tiles, between.count);
      if (its_pieces >= kLeastPieces) consider(its_pieces, end);
    }
    if (rows <= 1) return plan;
  }
}

CipherPiece cut_off(const CipherKind &kind, CipherPiece &piece, uint64_t cut) {
  CipherPiece rest = piece;
  rest.in += cut * kBlockBytes;
  rest.out += cut * kBlockBytes;
  rest.length -= cut * kBlockBytes;
  if (kind.info().continuation == Continuation::kCounter)
    advance_counter(reinterpret_cast<uint8_t *>(rest.iv), cut);
  if (kind.info().continuation == Continuation::kCiphertext) rest.continues = 1;
  piece.length = cut * kBlockBytes;
  return rest;
}

}  // namespace

std::vector<BlockPart> cut_into_parts(const CipherKind &kind, BlockForm form,
                                      const BlockWarps &warps, std::vector<CipherPiece> &pieces) {
  uint64_t blocks = 0;
  for (const CipherPiece &piece : pieces) blocks += blocks_of(kind, piece);
  std::vector<BlockPart> parts;
  parts.push_back({form, 0, static_cast<uint32_t>(pieces.size()),
                   choose_rows(kind, form, warps, blocks, pieces.size()), 0});
  const Cut cut = form == BlockForm::kTable4 && pieces.size() == 1 && can_be_cut(kind)
                      ? choose_cut(kind, warps, pieces.front())
                      : Cut();
  if (cut.at != 0) {
    const CipherPiece rest = cut_off(kind, pieces.front(), cut.at);
    pieces.push_back(rest);
    parts.push_back({BlockForm::kBitslice, 1, 1, cut.rows, 0});
  }
  for (BlockPart &part : parts) {
    for (uint32_t n = 0; n < part.pieces; ++n) {
      CipherPiece &piece = pieces[part.first_piece + n];
      piece.first_tile = part.tiles;
      part.tiles += count_tiles(kind, part.form, part.rows, warps.threads, piece);
    }
  }
  return parts;
}

bool have_partial_units(std::span<const CipherPiece> pieces, uint32_t warp_threads) {
  // A slot by itself takes a few times as long as in a tile.
  constexpr uint64_t kPart = 16;
  const uint64_t tile = uint64_t{BLOCK_TABLE_BLOCKS} * warp_threads;
  uint64_t all = 0, alone = 0;
  for (const CipherPiece &piece : pieces) {
    const uint64_t slots = piece.slots;
    all += slots;
    if (piece.unit_bytes % kBlockBytes != 0 && slots > piece.unit_bytes / kBlockBytes)
      alone += slots;
    else if (piece.length % kBlockBytes != 0)
      alone += (slots - 1) % tile + 1;  // the tile of its last slot
  }
  return alone * kPart > all;
}

std::vector<BlockPart> parts_of_alike(const CipherKind &kind, BlockForm form,
                                      const BlockWarps &warps, std::span<AlikePieces, 3> alike) {
  uint64_t blocks = 0, pieces = 0;
  for (const AlikePieces &some : alike) {
    blocks += some.count * blocks_of(kind, some.piece);
    pieces += some.count;
  }
  AlikePlan plan;
  plan.table_rows = choose_rows(kind, form, warps, blocks, pieces);
  if (form != BlockForm::kBitslice && alike[1].count > 1 && alike[2].count == 1)
    plan = plan_alike(kind, form, warps, alike[1], pieces, plan.table_rows);
  std::vector<BlockPart> parts;
  parts.push_back(
      {form, 0, static_cast<uint32_t>(pieces - plan.concurrent_pieces), plan.table_rows, 0});
  for (AlikePieces &some : alike) {
    some.tiles = count_tiles(kind, form, plan.table_rows, warps.threads, some.piece);
    some.concurrent_tiles =
        count_tiles(kind, BlockForm::kBitslice, plan.concurrent_rows, warps.threads, some.piece);
    parts.front().tiles += some.count * some.tiles;
  }
  if (plan.concurrent_pieces == 0) return parts;
  // The last piece, and those between that come before it.
  const uint64_t between = plan.concurrent_pieces - 1;
  parts.front().tiles -= between * alike[1].tiles + alike[2].tiles;
  parts.push_back({BlockForm::kBitslice, static_cast<uint32_t>(pieces - plan.concurrent_pieces),
                   static_cast<uint32_t>(plan.concurrent_pieces), plan.concurrent_rows,
                   between * alike[1].concurrent_tiles + alike[2].concurrent_tiles});
  return parts;
}

}  // namespace lanecrypt::runtime
