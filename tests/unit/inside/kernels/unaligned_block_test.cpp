// The kernels for texts at any address as a GPU executes them: by warps of 32 threads, with the key
// in the device's key slot, or with several keys. Every byte of memory is compared with OpenSSL's
// answers, including the bytes around the texts. The emulator's own warps have one thread, and it
// has no key slot, so this file compiles the kernels itself and calls each by name.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string_view>

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
#define LC_CIPHER aria
#include "kernels/cipher_forms.inc"
#define LC_CIPHER camellia
#include "kernels/cipher_forms.inc"
#define LC_CIPHER sm4
#include "kernels/aria/aria_key.h"
#include "kernels/camellia/camellia_key.h"
#include "kernels/cipher_forms.inc"
#include "kernels/sm4/sm4_key.h"

#define BLOCK_KEY_SLOT
#include "kernels/aes/aes_bitslice.inc"
#undef BLOCK_KEY_SLOT

}  // namespace kernels

constexpr uint32_t kThreads = 32, kThreadBlocks = 2;
// The number of keys in a launch of the kernels that load them from memory.
constexpr uint32_t kKeys = 5;
constexpr uint64_t kTileBytes = 16 * BLOCK_TABLE_BLOCKS * kThreads;
constexpr uint64_t kSlicedTileBytes = 16 * BLOCK_BITSLICE_BLOCKS * kThreads;

// The arguments of a launch.
struct Arguments {
  const CipherPiece *pieces;
  uint32_t count;
  uint64_t tiles;
  const u32 *schedules;
  uint32_t keys, rounds, rows;
  uint8_t *memory;
  uint8_t *points;
  u32 *chain;
  u32 *local;
};

class KernelCase {
 public:
  using Expand = void (*)(const u32 *, u32 *, u32, u32, u32);
  using Run = void (*)(const Arguments &);
  using Points = void (*)(const Arguments &, u32 count);  // XTS

  KernelCase(const char *its_name, lc_cipher its_cipher, lc_direction its_direction,
             Expand its_expand, Run its_run, Points its_points = nullptr)
      : name(its_name),
        cipher(its_cipher),
        direction(its_direction),
        expand(its_expand),
        run(its_run),
        points(its_points) {}

  const char *name;
  lc_cipher cipher;
  lc_direction direction;
  Expand expand;
  Run run;
  Points points;
};

#define PLAIN(name, cipher, direction, expand)                                                     \
  KernelCase(#name, cipher, direction, kernels::expand, [](const Arguments &a) {                   \
    kernels::name(a.pieces, a.count, a.tiles, a.schedules, a.rounds, a.memory, a.memory, a.local); \
  })
#define COUNTS(name, cipher, expand)                                                             \
  KernelCase(#name, cipher, LC_ENCRYPT, kernels::expand, [](const Arguments &a) {                \
    kernels::name(a.pieces, a.count, a.tiles, a.schedules, a.rounds, a.memory, a.memory, a.rows, \
                  a.local);                                                                      \
  })
#define CHAINS(name, cipher, expand)                                                               \
  KernelCase(#name, cipher, LC_ENCRYPT, expand, [](const Arguments &a) {                           \
    kernels::name(a.pieces, a.count, a.chain, a.schedules, a.rounds, a.memory, a.memory, a.local); \
  })
// Stream kernels that load keys from memory read them in the layout for streams.
#define CHAINS_OF(name, NAME)                                                                     \
  CHAINS(name##_table4_slot_cbc_encrypt_unaligned, LC_##NAME##_CBC, kernels::name##_expand_keys), \
      CHAINS(name##_table4_cbc_encrypt_unaligned, LC_##NAME##_CBC,                                \
             [](const u32 *keys, u32 *schedules, u32 count, u32 words, u32) {                     \
               kernels::name##_expand_stream_keys(keys, schedules, count, words);                 \
             })
#define UNITS(name, of, cipher, direction, expand)                                              \
  KernelCase(                                                                                   \
      #name, cipher, direction, kernels::expand,                                                \
      [](const Arguments &a) {                                                                  \
        kernels::name(a.pieces, a.count, a.tiles, a.schedules, a.rounds, a.memory, a.memory,    \
                      a.points, a.local);                                                       \
      },                                                                                        \
      [](const Arguments &a, u32 count) {                                                       \
        kernels::of##_points(a.pieces, a.count, count, a.schedules, a.keys, a.rounds, a.points, \
                             a.local);                                                          \
      })
#define EVERY_CIPHER(name, NAME, form)                                                           \
  PLAIN(name##_##form##_ecb_encrypt_unaligned, LC_##NAME##_ECB, LC_ENCRYPT, name##_expand_keys), \
      PLAIN(name##_##form##_ecb_decrypt_unaligned, LC_##NAME##_ECB, LC_DECRYPT,                  \
            name##_expand_keys),                                                                 \
      PLAIN(name##_##form##_cbc_decrypt_unaligned, LC_##NAME##_CBC, LC_DECRYPT,                  \
            name##_expand_keys),                                                                 \
      PLAIN(name##_##form##_cfb_decrypt_unaligned, LC_##NAME##_CFB128, LC_DECRYPT,               \
            name##_expand_keys),                                                                 \
      COUNTS(name##_##form##_ctr_unaligned, LC_##NAME##_CTR, name##_expand_keys)
#define WITH_UNITS(name, mode, CIPHER, form)                                                      \
  UNITS(name##_##form##_##mode##_encrypt_unaligned, name##_table4_##mode, CIPHER, LC_ENCRYPT,     \
        name##_expand_keys),                                                                      \
      UNITS(name##_##form##_##mode##_decrypt_unaligned, name##_table4_##mode, CIPHER, LC_DECRYPT, \
            name##_expand_keys)
#define EVERY_KERNEL(form)                                                            \
  EVERY_CIPHER(aes, AES, form), EVERY_CIPHER(sm4, SM4, form),                         \
      EVERY_CIPHER(camellia, CAMELLIA, form), EVERY_CIPHER(aria, ARIA, form),         \
      WITH_UNITS(aes, xts, LC_AES_XTS, form), WITH_UNITS(sm4, xts, LC_SM4_XTS, form), \
      WITH_UNITS(sm4, xts_gb, LC_SM4_XTS_GB, form)

const KernelCase kKernels[] = {
    EVERY_KERNEL(table4_slot), EVERY_KERNEL(table4), CHAINS_OF(aes, AES), CHAINS_OF(sm4, SM4),
    CHAINS_OF(camellia, CAMELLIA), CHAINS_OF(aria, ARIA),
    // The kernels of bitsliced warps that run concurrently with those of tables.
    PLAIN(aes_bitslice_slot_ecb_encrypt_unaligned, LC_AES_ECB, LC_ENCRYPT, aes_expand_keys),
    PLAIN(aes_bitslice_slot_ecb_decrypt_unaligned, LC_AES_ECB, LC_DECRYPT, aes_expand_keys),
    COUNTS(aes_bitslice_slot_ctr_unaligned, LC_AES_CTR, aes_expand_keys)};

// A text. The skews are the addresses of input and output modulo 16.
struct Text {
  uint32_t in_skew, out_skew;
  uint64_t length;
  bool in_place = false;
  bool continues = false;  // CBC and CFB: earlier ciphertext precedes it
};

class UnalignedBlock : public testing::TestWithParam<KernelCase> {
 protected:
  const KernelCase &kernel() const { return GetParam(); }
  const CipherInfo &info() const { return cipher_info(kernel().cipher); }
  bool is_aes() const { return info().block == kBlockCiphers; }
  bool is_sliced() const {
    return std::string_view(kernel().name).find("_bitslice_") != std::string_view::npos;
  }
  bool has_slot() const {
    return std::string_view(kernel().name).find("_slot_") != std::string_view::npos;
  }

  // Runs all these texts in one launch, with other bytes between them in memory.
  void check(const std::vector<Text> &texts, uint64_t unit_bytes = 0) {
    uint64_t bytes = 64;
    std::vector<Placed> placed;
    for (const Text &text : texts) {
      const uint64_t room = 16 + (text.length + 15) / 16 * 16 + 48, in = bytes + 16 + text.in_skew;
      bytes += room;
      if (text.in_place) {
        placed.push_back({text, in, in});
      } else {
        placed.push_back({text, in, bytes + 16 + text.out_skew});
        bytes += room;
      }
    }
    RandomMemory memory(random_, bytes);
    check(placed, memory.get(), {{0, bytes}}, unit_bytes);
  }

  // A text, and the addresses of its input and output in memory.
  struct Placed {
    Text text;
    uint64_t in, out;
  };

  // Runs the texts in memory that consists of these spans.
  void check(const std::vector<Placed> &texts, uint8_t *memory, const std::vector<Span> &spans,
             uint64_t unit_bytes = 0) {
    const uint32_t key_bytes = key_sizes(kernel().cipher).back();
    const CipherKind kind = {kernel().cipher, kernel().direction, key_bytes};
    std::vector<ExpectedSpan> expected;
    for (const Span &span : spans) expected.emplace_back(memory, span);
    const auto expect = [&](uint64_t at, const Bytes &answer) {
      for (ExpectedSpan &span : expected) span.expect(at, answer);
    };
    std::vector<Bytes> keys(has_slot() ? 1 : kKeys, Bytes(key_bytes));
    for (Bytes &key : keys) random_.fill(key.data(), key.size());
    std::vector<CipherPiece> pieces;
    // The last earlier ciphertext of each stream, and its expected value afterwards.
    const bool is_chain = info().is_chain(kernel().direction);
    Bytes chain(16 * (texts.size() + 1)), expected_chain;
    random_.fill(chain.data(), chain.size());
    expected_chain = chain;
    uint32_t points = 0;
    for (const auto &[text, in, out] : texts) {
      CipherPiece piece = {};
      piece.in = in;
      piece.out = out;
      piece.length = text.length;
      // Adjacent pieces have different keys, in another order than that of the keys.
      piece.key = static_cast<uint32_t>(3 * pieces.size() % keys.size());
      piece.continues = text.continues && info().continuation == Continuation::kCiphertext ? 1 : 0;
      uint8_t iv[16];
      random_.fill(iv, sizeof iv);
      memcpy(piece.iv, iv, sizeof iv);
      piece.chain = static_cast<uint32_t>(texts.size() - pieces.size());
      uint8_t *const last = &expected_chain[16 * piece.chain];
      if (piece.continues) memcpy(iv, is_chain ? last : memory + in - 16, 16);
      if (info().has_data_units()) {
        const uint64_t unit = unit_bytes == 0 ? piece.length : std::min(unit_bytes, piece.length);
        set_data_units(piece, unit, &points);
      }
      Bytes answer(text.length);
      if (text.length != 0)
        reference_crypt({kernel().cipher, kernel().direction, key_bytes, unit_bytes},
                        keys[piece.key].data(), iv, memory + in, answer.data(), text.length);
      expect(out, answer);
      if (is_chain) memcpy(last, text.length == 0 ? iv : &answer[text.length - 16], 16);
      pieces.push_back(piece);
    }
    run(kind, keys, pieces, points, memory, chain);
    EXPECT_TRUE(expected_chain == chain) << kernel().name << ": the last blocks of streams";
    for (size_t n = 0; n < spans.size(); ++n) {
      const std::optional<uint64_t> at = expected[n].first_difference();
      if (!at) continue;
      const auto &[text, in, out] = nearest_text(texts, *at);
      ADD_FAILURE() << kernel().name << ": byte " << static_cast<int64_t>(*at - out) << " of "
                    << text.length << ", " << in % 16 << " to " << out % 16
                    << (text.in_place ? ", in place" : "") << (text.continues ? ", goes on" : "");
      return;
    }
  }

  void run(const CipherKind &kind, const std::vector<Bytes> &keys, std::vector<CipherPiece> &pieces,
           uint32_t points, uint8_t *memory, Bytes &chain) {
    // All keys of the data, followed by all keys of the tweaks.
    const auto count = static_cast<uint32_t>(keys.size()), of_all = count * info().keys;
    std::vector<u32> given(of_all * BLOCK_KEY_WORDS);
    for (uint32_t n = 0; n < of_all; ++n)
      memcpy(&given[n * BLOCK_KEY_WORDS], keys[n % count].data() + n / count * kind.one_key_bytes(),
             kind.one_key_bytes());
    struct alignas(16) Words {
      u32 w[4];
    };
    static_assert(2 * kKeys <= BLOCK_STREAM_KEYS);
    std::vector<Words> loaded(BLOCK_STREAM_KEYS * BLOCK_MOST_SCHEDULE_WORDS / 4);
    u32 *const schedules = has_slot() ? kernels::block_key_slot : loaded.front().w;
    kernel().expand(given.data(), schedules, of_all, kind.one_key_bytes() / 4,
                    kind.is_inverse() ? count : 0);
    std::vector<runtime::BlockPart> parts(1);  // chains have no tiles
    if (!kind.is_chain())
      parts = runtime::cut_into_parts(
          kind, is_sliced() ? runtime::BlockForm::kBitslice : runtime::BlockForm::kTable4,
          {kThreads, kThreadBlocks, 0, 0}, pieces);
    ASSERT_EQ(1u, parts.size());
    std::vector<Words> links(chain.size() / 16);
    memcpy(links.data(), chain.data(), chain.size());
    // Kernels of chains use four blocks of shared memory for each thread, other kernels a word.
    std::vector<u32> local(BLOCK_TABLE4_SHARED_WORDS + 16 * kThreads);
    Bytes made_points(16 * (points + XTS_SPARE_POINTS));
    const Arguments arguments = {pieces.data(),
                                 static_cast<uint32_t>(pieces.size()),
                                 parts[0].tiles,
                                 schedules,
                                 count,
                                 kind.rounds(),
                                 parts[0].rows,
                                 memory,
                                 made_points.data(),
                                 links.front().w,
                                 local.data()};
    if (kernel().points) kernel().points(arguments, points);
    for (uint32_t group = 0; group < kThreadBlocks; ++group)
      device::run_threads(kThreads, group, kThreadBlocks, [&] { kernel().run(arguments); });
    memcpy(chain.data(), links.data(), chain.size());
  }

  bool can_be_in_place() const { return !info().reads_back(kernel().direction); }
  // Returns a length of 0 to 40 blocks, as the mode allows. In XTS a whole tile precedes them.
  uint64_t length_of(uint64_t number) {
    const uint64_t blocks = number % 41;
    if (info().has_data_units()) return kTileBytes + 16 * blocks;
    const bool has_part = info().granule_bytes == 1 && blocks != 0 && random_.below(2) == 0;
    return 16 * blocks - (has_part ? random_.below(16) : 0);
  }

  Random random_{91};
};

TEST_P(UnalignedBlock, FromAnyAddressToAnyOther) {
  std::vector<Text> texts;
  for (uint32_t pair = 0; pair < 256; ++pair) {
    // For other ciphers than AES, which run the same code, only some pairs are tested. The same
    // holds for XTS, where a text has whole tiles, and for bitsliced kernels, which are slow here.
    if (pair % (!is_aes() ? 15 : info().has_data_units() || is_sliced() ? 5 : 1) != 0) continue;
    texts.push_back({pair / 16, pair % 16, length_of(7 * pair + 1), false, pair % 3 == 0});
  }
  check(texts, info().has_data_units() ? 512 : 0);
}

TEST_P(UnalignedBlock, OfAnyLength) {
  std::vector<Text> texts;
  for (uint64_t number = 0; number <= 40; ++number)
    for (const auto &[in, out] : {std::pair(5u, 11u), std::pair(0u, 3u), std::pair(9u, 0u)})
      if (is_aes() || (in == 5 && number % 5 == 1)) texts.push_back({in, out, length_of(number)});
  // Lengths around the end of a tile.
  const uint64_t tile = is_sliced() ? kSlicedTileBytes : kTileBytes;
  for (const uint64_t length : {tile - 16, tile, tile + 16})
    texts.push_back({13, 6, length, false, true});
  check(texts);
}

TEST_P(UnalignedBlock, InPlace) {
  if (!can_be_in_place()) GTEST_SKIP() << "it reads what it has overwritten";
  std::vector<Text> texts;
  for (uint32_t skew = 0; skew < 16; ++skew) {
    texts.push_back({skew, skew, length_of(11 * skew + 3), true});
    if (is_aes() && skew % 5 == 0) texts.push_back({skew, skew, 3 * kTileBytes + 48, true});
  }
  check(texts);
}

TEST_P(UnalignedBlock, OfManyTiles) {
  const uint64_t most = is_aes() ? 200000 : 10000;
  std::vector<Text> texts;
  for (const auto &[in, out] : {std::pair(5u, 5u), std::pair(8u, 1u), std::pair(15u, 12u)}) {
    const uint64_t length = most / 4 + random_.below(most / 4);
    texts.push_back({in, out, allowed_length(kernel().cipher, 0, length), false, in == 8});
  }
  check(texts);
  // Windows of counters: only a text that is much longer than a window has them, and also parts
  // before the first window and behind the last one.
  if (is_sliced() && info().granule_bytes == 1)
    check({{5, 11, 16 * 8 * 256 * BLOCK_BITSLICE_FEW_ROWS + 16 * 5000 + 7}});
  if (info().has_data_units()) {
    // Units of whole blocks, with a partial block, which are processed slot by slot, and a last
    // unit that is shorter.
    check({{3, 9, 5 * 4096 + 496}, {4, 4, 3 * 4096, true}}, 4096);
    check({{3, 9, 20 * 520}}, 520);
    check({{7, 2, 3 * kTileBytes + 37}});
  }
}

// The 16-byte blocks of memory that contain no byte of a text may be inaccessible.
TEST_P(UnalignedBlock, ReadsAndWritesNothingElse) {
  const LonePages pages;
  const uint64_t page = pages.page_bytes();
  const auto at_end = [&](uint64_t skew, uint64_t length) {
    return page - length - (skew == 0 ? 0 : 16 - skew);
  };
  for (const auto &[from, to] : {std::pair(0u, 1u), std::pair(1u, 0u), std::pair(15u, 1u),
                                 std::pair(1u, 15u), std::pair(8u, 8u)})
    for (const uint64_t length : {uint64_t{16}, uint64_t{33 * 16}, kTileBytes + 16})
      for (const bool begins : {false, true}) {
        const Text text = {from, to, length};
        const uint64_t in = begins ? from : at_end(from, length);
        const uint64_t out = begins ? at_end(to, length) : to;
        pages.fill(random_);
        check({{text, pages.first() + in, pages.second() + out}}, pages.memory(), pages.spans());
      }
  // An empty stream has no memory.
  if (info().is_chain(kernel().direction))
    check({{{5, 3, 48}, pages.first() + 5, pages.second() + 3},
           {{7, 9, 0}, pages.first() + page + 7, pages.second() + page + 9}},
          pages.memory(), pages.spans());
}

INSTANTIATE_TEST_SUITE_P(, UnalignedBlock, testing::ValuesIn(kKernels),
                         [](const auto &test) { return std::string(test.param.name); });

}  // namespace
}  // namespace lanecrypt::test
