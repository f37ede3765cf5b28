// Which pieces of CTR go to bitsliced warps concurrently with those that use tables, and which XTS
// pieces go to the kernels for units that end in a partial block. No device is needed.
//
// SPDX-License-Identifier: Apache-2.0
#include "launch/block_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace lanecrypt::runtime {
namespace {

constexpr uint64_t kMebibyte = 1 << 20;
const CipherKind kCtr = {LC_AES_CTR, LC_ENCRYPT, 32};
// A GPU with 132 multiprocessors.
constexpr BlockWarps kWarps = {.threads = 32,
                               .count = 132 * 16,
                               .concurrent = 132 * 4,
                               .share = kBlockCiphers[0].concurrent_share};

CipherPiece piece_of(uint64_t bytes) {
  CipherPiece piece = {};
  piece.length = bytes;
  piece.iv[3] = 0x02000000u;
  return piece;
}

std::vector<BlockPart> cut(uint64_t bytes, std::vector<CipherPiece> &pieces) {
  pieces = {piece_of(bytes)};
  return cut_into_parts(kCtr, BlockForm::kTable4, kWarps, pieces);
}

TEST(BlockParts, TheEndOfALargePieceIsBitsliced) {
  std::vector<CipherPiece> pieces;
  EXPECT_EQ(1u, cut(100 * kMebibyte, pieces).size());
  for (const uint64_t bytes :
       {150 * kMebibyte, 256 * kMebibyte, 400 * kMebibyte + 7, 4096 * kMebibyte}) {
    SCOPED_TRACE(bytes);
    const std::vector<BlockPart> parts = cut(bytes, pieces);
    ASSERT_EQ(2u, parts.size());
    ASSERT_EQ(2u, pieces.size());
    EXPECT_EQ(BlockForm::kBitslice, parts[1].form);
    EXPECT_EQ(bytes < 1024 * kMebibyte ? BLOCK_BITSLICE_FEW_ROWS : BLOCK_BITSLICE_ROWS,
              parts[1].rows);
    EXPECT_EQ(bytes, pieces[0].length + pieces[1].length);
    EXPECT_EQ(pieces[0].length, pieces[1].in);
    // The cut is where a window begins, as computed from the piece's first counter.
    EXPECT_EQ(0u, (pieces[0].length / kBlockBytes + 2) % (256 * parts[1].rows));
    // 12 % and half a trip, if there are at least 4.
    EXPECT_GT(pieces[1].length, bytes / 20);
    EXPECT_LT(pieces[1].length, bytes * 14 / 100);
  }
}

TEST(BlockParts, WhereBitslicedWarpsTakeNothingNoPieceIsCut) {
  BlockWarps warps = kWarps;
  warps.share = 0;
  std::vector<CipherPiece> pieces = {piece_of(4096 * kMebibyte)};
  EXPECT_EQ(1u, cut_into_parts(kCtr, BlockForm::kTable4, warps, pieces).size());
  EXPECT_EQ(1u, pieces.size());
}

CipherPiece units_of(uint64_t unit, uint64_t bytes) {
  CipherPiece piece = {};
  piece.length = bytes;
  piece.unit_bytes = static_cast<uint32_t>(std::min(unit, bytes));
  piece.slots = bytes / piece.unit_bytes * (piece.unit_bytes / 16) + bytes % piece.unit_bytes / 16;
  return piece;
}

TEST(BlockParts, UnitsArePartialWhereMostTilesHoldAPartOfABlock) {
  const auto are_partial = [](std::vector<CipherPiece> pieces) {
    return have_partial_units(pieces, 32);
  };
  EXPECT_TRUE(are_partial({units_of(520, 52000)}));
  EXPECT_TRUE(are_partial({units_of(4097, kMebibyte)}));
  EXPECT_TRUE(are_partial({units_of(17, 17)}));
  EXPECT_FALSE(are_partial({units_of(4096, kMebibyte)}));
  EXPECT_FALSE(are_partial({units_of(48, 48)}));
  // Only the last block is partial, of a long text and of short ones.
  EXPECT_FALSE(are_partial({units_of(4096, kMebibyte + 17)}));
  EXPECT_FALSE(are_partial({units_of(kMebibyte, kMebibyte - 1)}));
  EXPECT_TRUE(are_partial({units_of(4097, 4097), units_of(4097, 4097)}));
  // The majority of the tiles decides.
  EXPECT_FALSE(are_partial({units_of(4096, kMebibyte), units_of(33, 3300)}));
  EXPECT_TRUE(are_partial({units_of(4096, kMebibyte), units_of(33, 330000)}));
}

std::vector<BlockPart> list(uint64_t bytes, uint64_t count, std::array<AlikePieces, 3> &alike) {
  alike = {};
  const uint64_t lengths[] = {bytes - 56, bytes, bytes / 2}, counts[] = {1, count - 2, 1};
  for (size_t n = 0; n < alike.size(); ++n) {
    alike[n].piece = piece_of(lengths[n]);
    alike[n].count = counts[n];
  }
  return parts_of_alike(kCtr, BlockForm::kTable4, kWarps, alike);
}

TEST(BlockParts, TheLastOfAlikePiecesAreBitsliced) {
  std::array<AlikePieces, 3> alike;
  EXPECT_EQ(1u, list(kMebibyte, 100, alike).size());
  struct Case {
    uint64_t bytes, count;
    uint32_t rows;
  };
  // Short pieces would fill only a part of a window.
  for (const auto &[bytes, count, rows] :
       {Case{kMebibyte, 1024, 32}, Case{64 << 10, 16384, 0}, Case{16 * kMebibyte, 64, 32}}) {
    SCOPED_TRACE(bytes);
    const std::vector<BlockPart> parts = list(bytes, count, alike);
    ASSERT_EQ(2u, parts.size());
    EXPECT_EQ(BlockForm::kBitslice, parts[1].form);
    EXPECT_EQ(rows, parts[1].rows);
    EXPECT_EQ(0u, parts[0].first_piece);
    EXPECT_EQ(parts[0].pieces, parts[1].first_piece);
    EXPECT_EQ(count, parts[0].pieces + parts[1].pieces);
    EXPECT_EQ(alike[0].tiles + (parts[0].pieces - 1) * alike[1].tiles, parts[0].tiles);
    EXPECT_EQ((parts[1].pieces - 1) * alike[1].concurrent_tiles + alike[2].concurrent_tiles,
              parts[1].tiles);
    EXPECT_GT(parts[1].pieces, count * 7 / 100);
    EXPECT_LE(parts[1].pieces, count * 12 / 100);
  }
}

// GCM counts from 2, so the last two blocks of a mebibyte begin a window, and fill one tile of it.
// Both forms end their last trips at about the same time: one more trip of the bitsliced warps
// would end last, and one less of the tables is not possible.
TEST(BlockParts, AWindowThatIsHardlyBegunHasFewTiles) {
  std::array<AlikePieces, 3> alike;
  const std::vector<BlockPart> parts = list(kMebibyte, 1024, alike);
  ASSERT_EQ(2u, parts.size());
  EXPECT_EQ(8u, parts[0].rows);
  EXPECT_EQ(65536 / (8 * 128) + 1, alike[1].tiles);
  EXPECT_EQ(65536 / (32 * 32) + 1, alike[1].concurrent_tiles);
  EXPECT_EQ(29u, divide_up(parts[0].tiles, kWarps.count));
  EXPECT_EQ(11u, divide_up(parts[1].tiles, kWarps.concurrent));
  // A row of the window that is full has all its columns. In 8 rows it would have 66 tiles, which
  // divide the number of warps: see the next test.
  const uint32_t rows = list(kMebibyte + 254 * kBlockBytes, 1024, alike)[0].rows;
  EXPECT_EQ(4u, rows);
  EXPECT_EQ(65536 / (rows * 128) + 2, alike[1].tiles);
  EXPECT_EQ(65536 / (32 * 32) + 8, alike[1].concurrent_tiles);
}

// 33 tiles of 4 rows: each of the 2,112 warps would have the same tile of a piece in all trips, and
// the first tile takes longer.
TEST(BlockParts, NoWarpHasTheFirstTileOfEachPiece) {
  std::array<AlikePieces, 3> alike;
  const std::vector<BlockPart> parts = list(256 << 10, 4096, alike);
  ASSERT_EQ(2u, parts.size());
  EXPECT_NE(4u, parts[0].rows);
  EXPECT_EQ(1u, std::gcd(alike[1].tiles, kWarps.count));
}

// Fewer rows if most of a tile would be past the end of its piece.
TEST(BlockParts, WindowsAreNoLongerThanTheirPiecesFill) {
  std::array<AlikePieces, 3> alike;
  const uint64_t blocks = 9 * 256;  // from the third block of a window of 8 rows
  const std::vector<BlockPart> parts = list(blocks * kBlockBytes, 16384, alike);
  EXPECT_EQ(1u, parts[0].rows);
}

}  // namespace
}  // namespace lanecrypt::runtime
