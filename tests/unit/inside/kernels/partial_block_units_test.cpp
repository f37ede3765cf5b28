// The kernels for XTS whose data units end in a partial block, as a GPU executes them: by warps of
// 32 threads, with the keys in the device's key slot, called by name as in
// unaligned_block_test.cpp. Every byte of memory is compared with OpenSSL's answers, unit by unit,
// including the bytes around the texts.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "device/host/host_threads.h"
#include "launch/block_parts.h"
#include "unit/support/placed_texts.h"
#include "unit/support/random_bytes.h"
#include "unit/support/reference.h"
#include "unit/support/warp_platform.h"

#pragma GCC diagnostic ignored "-Wunused-function"

namespace lanecrypt::test {
namespace {
namespace kernels {

#include "kernels/aes/aes_key.h"
#define LC_CIPHER aes
#include "kernels/cipher_forms.inc"
#define LC_CIPHER sm4
#include "kernels/cipher_forms.inc"
#include "kernels/sm4/sm4_key.h"

}  // namespace kernels

constexpr uint32_t kThreads = 32, kThreadBlocks = 2;
constexpr uint64_t kTileSlots = BLOCK_TABLE_BLOCKS * kThreads;

// The arguments of a launch.
struct Arguments {
  const CipherPiece *pieces;
  uint32_t count, points;
  uint64_t tiles;
  uint32_t rounds;
  uint8_t *memory, *made_points;
  u32 *local;
};

struct KernelCase {
  const char *name;
  lc_cipher cipher;
  lc_direction direction;
  void (*expand)(const u32 *, u32 *, u32, u32, u32);
  void (*make_points)(const Arguments &);
  void (*run)(const Arguments &);
  void (*run_ends)(const Arguments &);
};

#define UNITS(block, mode, its_cipher, its_direction, way)                                      \
  {                                                                                             \
#block "_" #mode "_" #way, its_cipher, its_direction, kernels::block##_expand_keys,           \
        [](const Arguments &a) {                                                                  \
          kernels::block##_table4_##mode##_points(a.pieces, a.count, a.points,                    \
                                                  kernels::block_key_slot, 1, a.rounds,           \
                                                  a.made_points, a.local);                        \
        },                                                                                        \
        [](const Arguments &a) {                                                                  \
          kernels::block##_table4_slot_##mode##_##way##_partial(                                      \
              a.pieces, a.count, a.tiles, kernels::block_key_slot, a.rounds, a.memory, a.memory,  \
              a.made_points, a.local);                                                            \
        },                                                                                        \
        [](const Arguments &a) {                                                                  \
          kernels::block##_table4_slot_##mode##_##way##_partial_ends(                                 \
              a.pieces, a.count, a.points, kernels::block_key_slot, a.rounds, a.memory,           \
              a.made_points, a.local);                                                            \
        }, \
  }

const KernelCase kKernels[] = {
    UNITS(aes, xts, LC_AES_XTS, LC_ENCRYPT, encrypt),
    UNITS(aes, xts, LC_AES_XTS, LC_DECRYPT, decrypt),
    UNITS(sm4, xts, LC_SM4_XTS, LC_ENCRYPT, encrypt),
    UNITS(sm4, xts, LC_SM4_XTS, LC_DECRYPT, decrypt),
    UNITS(sm4, xts_gb, LC_SM4_XTS_GB, LC_ENCRYPT, encrypt),
    UNITS(sm4, xts_gb, LC_SM4_XTS_GB, LC_DECRYPT, decrypt),
};

// A text and its data units. The skews are the addresses of input and output modulo 16.
struct Text {
  uint64_t unit, length;
  uint64_t in_skew, out_skew;
  bool in_place = false;
};

// A text, and the addresses of its input and output in memory.
struct Placed {
  Text text;
  uint64_t in, out;
};

class PartialBlockUnits : public testing::TestWithParam<KernelCase> {
 protected:
  const KernelCase &kernel() const { return GetParam(); }
  bool is_aes() const { return kernel().cipher == LC_AES_XTS; }

  // Runs all these texts in one launch. There are other bytes between them or none: a text may
  // begin in the 16-byte block of memory in which another ends.
  void check(const std::vector<Text> &texts) {
    const auto next = [](uint64_t at, uint64_t skew) { return at + (skew - at) % 16; };
    std::vector<Placed> placed;
    uint64_t bytes = 64;
    for (const Text &text : texts) {
      const uint64_t in = next(bytes, text.in_skew);
      bytes = in + text.length;
      const uint64_t out = text.in_place ? in : next(bytes, text.out_skew);
      if (!text.in_place) bytes = out + text.length;
      placed.push_back({text, in, out});
    }
    bytes += 64;
    RandomMemory memory(random_, bytes);
    check(placed, memory.get(), {{0, bytes}});
  }

  // Runs the texts in memory that consists of these spans.
  void check(const std::vector<Placed> &texts, uint8_t *memory, const std::vector<Span> &spans) {
    const uint32_t key_bytes = key_sizes(kernel().cipher).back();
    const CipherKind kind = {kernel().cipher, kernel().direction, key_bytes};
    Bytes key(key_bytes);
    random_.fill(key.data(), key.size());
    std::vector<ExpectedSpan> expected;
    for (const Span &span : spans) expected.emplace_back(memory, span);
    std::vector<CipherPiece> pieces;
    uint32_t points = 0;
    for (const auto &[text, in, out] : texts) {
      CipherPiece piece = {};
      piece.in = in;
      piece.out = out;
      piece.length = text.length;
      set_data_units(piece, std::min(text.unit, text.length), &points);
      uint8_t iv[16];
      random_.fill(iv, sizeof iv);
      memcpy(piece.iv, iv, sizeof iv);
      pieces.push_back(piece);
      Bytes answer(text.length);
      reference_crypt({kernel().cipher, kernel().direction, key_bytes, text.unit}, key.data(), iv,
                      memory + in, answer.data(), text.length);
      for (ExpectedSpan &span : expected) span.expect(out, answer);
    }
    ASSERT_TRUE(runtime::have_partial_units(pieces, kThreads));
    run(kind, key, pieces, points, memory);
    for (size_t n = 0; n < spans.size(); ++n) {
      const std::optional<uint64_t> at = expected[n].first_difference();
      if (!at) continue;
      const auto &[text, in, out] = nearest_text(texts, *at);
      ADD_FAILURE() << kernel().name << ": byte " << static_cast<int64_t>(*at - out) << " of "
                    << text.length << " in units of " << text.unit << ", " << in % 16 << " to "
                    << out % 16 << (text.in_place ? ", in place" : "");
      return;
    }
  }

  void run(const CipherKind &kind, const Bytes &key, std::vector<CipherPiece> &pieces,
           uint32_t points, uint8_t *memory) {
    // The keys of the data and of the tweaks.
    u32 keys[2][BLOCK_KEY_WORDS] = {};
    for (uint32_t n = 0; n < 2; ++n)
      memcpy(keys[n], key.data() + n * kind.one_key_bytes(), kind.one_key_bytes());
    kernel().expand(keys[0], kernels::block_key_slot, 2, kind.one_key_bytes() / 4,
                    kind.is_inverse() ? 1 : 0);
    const std::vector<runtime::BlockPart> parts = runtime::cut_into_parts(
        kind, runtime::BlockForm::kTable4, {kThreads, kThreadBlocks, 0, 0}, pieces);
    ASSERT_EQ(1u, parts.size());
    std::vector<u32> local(BLOCK_TABLE4_SHARED_WORDS + kThreads);
    Bytes made_points(16 * (points + XTS_SPARE_POINTS));
    const Arguments arguments = {pieces.data(),
                                 static_cast<uint32_t>(pieces.size()),
                                 points,
                                 parts[0].tiles,
                                 kind.rounds(),
                                 memory,
                                 made_points.data(),
                                 local.data()};
    kernel().make_points(arguments);
    for (uint32_t group = 0; group < kThreadBlocks; ++group)
      device::run_threads(kThreads, group, kThreadBlocks, [&] { kernel().run(arguments); });
    if (between_) between_();
    for (uint32_t group = 0; group < kThreadBlocks; ++group)
      device::run_threads(kThreads, group, kThreadBlocks, [&] { kernel().run_ends(arguments); });
  }

  Random random_{91};
  std::function<void()> between_;  // runs when only the units' last blocks are left
};

// Two units and a part of a third, so that units begin at any address.
TEST_P(PartialBlockUnits, OfAnyLength) {
  std::vector<Text> texts;
  const auto add = [&](uint64_t unit) {
    const uint64_t last = 16 + random_.below(unit - 16);
    texts.push_back({unit, 2 * unit + last, random_.below(16), random_.below(16)});
  };
  const uint64_t step = is_aes() ? 1 : 7;
  for (uint64_t unit = 17; unit < 80; unit += step) add(unit);
  for (uint64_t unit = 81; unit < 4096; unit += 151 * step) add(unit);
  for (const uint64_t tile : {2048u, 4096u})
    for (const uint64_t unit : {tile - 17, tile - 1, tile + 1, tile + 15}) add(unit);
  check(texts);
}

TEST_P(PartialBlockUnits, FromAnyAddressToAnyOther) {
  std::vector<Text> texts;
  for (uint32_t pair = 0; pair < 256; pair += is_aes() ? 1 : 15) {
    const uint64_t unit = 17 + pair * 5 % 90;
    texts.push_back({unit, 3 * unit + 16 + pair % (unit - 16), pair / 16, pair % 16});
  }
  check(texts);
}

TEST_P(PartialBlockUnits, InPlace) {
  std::vector<Text> texts;
  for (uint32_t skew = 0; skew < 16; ++skew)
    for (const uint64_t unit : {17u, 31u, 33u, 47u, 100u, 520u, 2049u})
      if (is_aes() || (skew + unit) % 5 == 0)
        texts.push_back({unit, 2 * unit + 16 + skew % (unit - 16), skew, skew, true});
  check(texts);
}

// Texts of one unit. The shortest has one block and one byte.
TEST_P(PartialBlockUnits, OfMessagesOfOneUnit) {
  std::vector<Text> texts;
  for (uint64_t length = 16; length < 4112; length += length < 80 ? 1 : is_aes() ? 97 : 499)
    texts.push_back({1 << 20, length, random_.below(16), random_.below(16), length % 3 == 0});
  check(texts);
}

TEST_P(PartialBlockUnits, OfManyTiles) {
  const uint64_t most = is_aes() ? 4 : 1;
  check({{4095, most * 4 * 4095 + 17, 0, 0}, {4097, most * 3 * 4097, 5, 11, true}});
  check({{520, most * 40 * 520 + 16, 0, 8}});
  // The last unit has one slot, and the earlier ones have one or two.
  check({{17, most * 50 * 17, 3, 3}, {33, most * 50 * 33 + 20, 7, 1}, {31, 31 * 40 + 30, 0, 0}});
}

// More than one point for each unit.
TEST_P(PartialBlockUnits, LongerThanAStretch) {
  const uint64_t stretch = 16 * XTS_STRETCH;
  if (!is_aes()) GTEST_SKIP() << "the same code around another cipher";
  check({{stretch + 33, 2 * (stretch + 33) + 77, 2, 13}, {stretch + 15, stretch + 40, 6, 6, true}});
}

// Some units have only whole blocks.
TEST_P(PartialBlockUnits, BesideOthers) {
  check({{520, 5200, 0, 0},
         {512, 4 * 512, 0, 0},
         {512, 4 * 512 + 100, 1, 2},
         {16, 16 * 70, 3, 3, true},
         {4096, 4096 + 33, 9, 4},
         {48, 10 * 48 + 21, 0, 15}});
}

// Between the two kernels there is no plaintext in the output.
TEST_P(PartialBlockUnits, LeavesNoPlaintextMeanwhile) {
  if (kernel().direction != LC_ENCRYPT) GTEST_SKIP() << "its output is plaintext";
  constexpr uint64_t kUnit = 47, kUnits = 20;
  alignas(16) uint8_t memory[2 * kUnit * kUnits];
  random_.fill(memory, sizeof memory);
  between_ = [&] {
    for (uint64_t n = 0; n < kUnits; ++n) {
      const uint8_t *in = memory + kUnit * n, *out = in + kUnit * kUnits;
      for (uint64_t at = 0; at + 8 <= kUnit; ++at)
        EXPECT_NE(0, memcmp(in + 32, out + at, 8)) << "unit " << n << ", byte " << at;
    }
  };
  check({{{kUnit, kUnit * kUnits, 0, 0}, 0, kUnit * kUnits}}, memory, {{0, sizeof memory}});
}

// The 16-byte blocks of memory that contain no byte of a text may be inaccessible.
TEST_P(PartialBlockUnits, ReadsAndWritesNothingElse) {
  const LonePages pages;
  const uint64_t page = pages.page_bytes();
  // Aligns the text so that its last byte is the last one of the page's last block.
  const auto at_end = [&](uint64_t skew, uint64_t length) {
    return (page - length) - (page - length - skew) % 16;
  };
  for (const auto &[from, to] : {std::pair(0u, 1u), std::pair(1u, 0u), std::pair(15u, 9u)})
    for (const auto &[unit, length] : {std::pair(17u, 17u), std::pair(17u, 2210u),
                                       std::pair(33u, 33u * 65), std::pair(700u, 2100u)})
      for (const bool begins : {false, true}) {
        const Text text = {unit, length, from, to};
        const uint64_t in = begins ? from : at_end(from, length);
        const uint64_t out = begins ? at_end(to, length) : to;
        pages.fill(random_);
        check({{text, pages.first() + in, pages.second() + out}}, pages.memory(), pages.spans());
      }
}

// The 16-byte blocks of memory around a unit's last slot may be written whole only if no other
// thread or program writes there. This test computes that, because on a CPU threads would seldom
// collide.
TEST(PartialBlockUnitEnds, AreAloneWhereNothingElseIsWritten) {
  uint64_t alone = 0, all = 0;
  for (uint64_t unit = 17; unit < 100; ++unit)
    for (uint64_t length = unit; length < 5 * unit; ++length) {
      if (length % unit != 0 && length % unit < 16) continue;
      CipherPiece piece = {};
      piece.length = length;
      piece.unit_bytes = static_cast<uint32_t>(unit);
      std::vector<kernels::XtsPartialEnd> ends;
      for (uint32_t n = 0; n * unit < length; ++n) {
        const uint64_t bytes = std::min(unit, length - n * unit);
        const kernels::XtsPartialEnd end = kernels::xts_partial_end(&piece, n);
        ASSERT_EQ(bytes % 16 != 0, end.is_there != 0);
        ASSERT_EQ(n * unit + bytes / 16 * 16 - 16, end.at);
        if (end.is_there) ends.push_back(end);
      }
      for (const kernels::XtsPartialEnd &end : ends) {
        all += 1;
        alone += end.is_alone;
      }
      for (uint64_t skew = 0; skew < 16; ++skew) {
        // The range that is written for each unit if the piece begins at `skew`. The units are in
        // order.
        uint64_t behind = skew;
        for (const kernels::XtsPartialEnd &end : ends) {
          const uint64_t at = skew + end.at;
          const bool whole = end.is_alone && at % 16 != 0;
          ASSERT_LE(behind, whole ? at / 16 * 16 : at) << unit << ", " << length << ", " << skew;
          behind = whole ? at / 16 * 16 + 32 : at + 16;
        }
        ASSERT_LE(behind, skew + length) << unit << ", " << length << ", " << skew;
      }
    }
  EXPECT_GT(2 * alone, all);
}

INSTANTIATE_TEST_SUITE_P(, PartialBlockUnits, testing::ValuesIn(kKernels),
                         [](const auto &test) { return std::string(test.param.name); });

}  // namespace
}  // namespace lanecrypt::test
