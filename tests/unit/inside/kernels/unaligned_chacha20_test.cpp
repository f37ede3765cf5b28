// ChaCha20 and Poly1305 by threads for texts at any address: the warps' kernels, compared with
// OpenSSL and with the kernel that accesses single bytes. The kernels run on the host.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "device/host/host_threads.h"
#include "kernels/aead/chacha20_plain_unaligned.h"
#include "kernels/aead/poly1305.h"
#include "unit/support/random_bytes.h"
#include "unit/support/reference.h"

namespace lanecrypt::test::unaligned_chacha20 {
namespace {

constexpr u32 kThreads = 32;
using Words = std::vector<u32>;

// Bytes that begin at a multiple of 16.
class Memory {
 public:
  Memory(u64 bytes, Random &random) : lines_(bytes / sizeof(Line) + 1) {
    random.fill(data(), lines_.size() * sizeof(Line));
  }
  u8 *data() { return lines_.front().bytes; }
  Bytes copy() { return Bytes(data(), data() + lines_.size() * sizeof(Line)); }

 private:
  struct alignas(16) Line {
    u8 bytes[16];
  };
  std::vector<Line> lines_;
};

// A text, as offsets in its memory.
struct Text {
  u64 in, out, length;
};

// The texts of one launch. Each is close behind the previous one, so that a write outside of one
// shows in another.
class Texts {
 public:
  void add(u32 in_skew, u32 out_skew, u64 length) {
    texts_.push_back({next(in_, in_skew), next(out_, out_skew), length});
    in_ = texts_.back().in + length;
    out_ = texts_.back().out + length;
  }
  const std::vector<Text> &all() const { return texts_; }
  u64 in_bytes() const { return in_ + 40; }
  u64 out_bytes() const { return out_ + 40; }

 private:
  static u64 next(u64 at, u32 skew) { return at + (skew - at) % 16; }
  std::vector<Text> texts_;
  u64 in_ = 40, out_ = 40;
};

// Pieces under two keys, with counters near their ends.
struct Pieces {
  Pieces(const std::vector<Text> &texts, Random &random) : keys(2 * BLOCK_KEY_WORDS) {
    random.fill(reinterpret_cast<u8 *>(keys.data()), keys.size() * 4);
    for (const Text &text : texts) {
      CipherPiece piece = {};
      piece.in = text.in;
      piece.out = text.out;
      piece.length = text.length;
      piece.key = static_cast<u32>(all.size() % 2);
      piece.first_tile = tiles;
      for (u32 &word : piece.iv) word = static_cast<u32>(random.next());
      if (random.below(2) != 0) piece.iv[0] = ~static_cast<u32>(random.below(40));
      constexpr u64 kTile = CHACHA20_BLOCK_BYTES * CHACHA20_UNALIGNED_WARP;
      tiles += (text.length + kTile - 1) / kTile;
      all.push_back(piece);
    }
  }
  // Returns the expected content of `out` after the launch.
  Bytes expected(const u8 *in, Bytes out) const {
    for (const CipherPiece &piece : all)
      reference_crypt({LC_CHACHA20, LC_ENCRYPT, 32},
                      reinterpret_cast<const u8 *>(&keys[piece.key * BLOCK_KEY_WORDS]),
                      reinterpret_cast<const u8 *>(piece.iv), in + piece.in, &out[piece.out],
                      piece.length);
    return out;
  }
  void run(const u8 *in, u8 *out, u32 groups) const {
    for (u32 group = 0; group < groups; ++group) {
      Words local(CHACHA20_UNALIGNED_SHARED_WORDS);
      device::run_threads(kThreads, group, groups, [&] {
        chacha20_unaligned(all.data(), static_cast<u32>(all.size()), tiles, keys.data(), in, out,
                           local.data());
      });
      EXPECT_EQ(local, Words(local.size())) << "the keystream is left there";
    }
  }

  Words keys;
  std::vector<CipherPiece> all;
  u64 tiles = 0;
};

void expect_right(const Texts &texts, u32 groups, Random &random) {
  Memory in(texts.in_bytes(), random), out(texts.out_bytes(), random);
  const Bytes before = in.copy();
  const Pieces pieces(texts.all(), random);
  const Bytes expected = pieces.expected(in.data(), out.copy());
  pieces.run(in.data(), out.data(), groups);
  EXPECT_TRUE(expected == out.copy());
  EXPECT_TRUE(before == in.copy());
}

// All skews and lengths, in many messages of one launch.
TEST(UnalignedChaCha20, IsOpenSslsForEverySkewAndLength) {
  Random random(91);
  u64 length = 0;
  for (u32 in_skew = 0; in_skew < 16; ++in_skew) {
    SCOPED_TRACE(in_skew);
    Texts texts;
    for (u32 out_skew = 0; out_skew < 16; ++out_skew) {
      for (u32 n = 0; n < 2; ++n) texts.add(in_skew, out_skew, length = (length + 1) % 201);
      texts.add(in_skew, out_skew, 1900 + random.below(300));
    }
    expect_right(texts, 2, random);
  }
}

TEST(UnalignedChaCha20, IsOpenSslsInPlace) {
  Random random(92);
  Texts texts;
  for (u32 skew = 0; skew < 16; ++skew)
    for (const u64 length : {u64{random.below(201)}, u64{2048}, 4000 + random.below(300)})
      texts.add(skew, skew, length);
  Memory memory(texts.in_bytes(), random);
  const Pieces pieces(texts.all(), random);
  const Bytes expected = pieces.expected(memory.data(), memory.copy());
  pieces.run(memory.data(), memory.data(), 3);
  EXPECT_TRUE(expected == memory.copy());
}

// Warps divide a long text, and begin and end anywhere in it.
TEST(UnalignedChaCha20, IsOpenSslsForLongTexts) {
  Random random(93);
  for (const u32 groups : {1u, 5u, 64u}) {
    SCOPED_TRACE(groups);
    Texts texts;
    texts.add(5, 5, 100003);
    texts.add(0, 9, 65536);
    texts.add(7, 0, 2047 + random.below(20));
    texts.add(3, 12, 2048 * 9 - 3);
    expect_right(texts, groups, random);
  }
}

// A refused segment has tiles but no text (plain_refuse).
TEST(UnalignedChaCha20, LeavesATextWithoutLengthAlone) {
  Random random(94);
  Texts texts;
  for (u32 n = 0; n < 3; ++n) texts.add(5, 5, 3000);
  Memory in(texts.in_bytes(), random), out(texts.out_bytes(), random);
  Pieces pieces(texts.all(), random);
  pieces.all[1].length = 0;
  const Bytes expected = pieces.expected(in.data(), out.copy());
  pieces.run(in.data(), out.data(), 2);
  EXPECT_TRUE(expected == out.copy());
}

// Accessible pages between inaccessible ones. They end where the 16-byte blocks of the text do.
class Pages {
 public:
  explicit Pages(u64 bytes) : page_(static_cast<u64>(getpagesize())), bytes_(bytes) {
    memory_ = static_cast<u8 *>(mmap(nullptr, bytes + 2 * page_, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(MAP_FAILED, memory_);
    EXPECT_EQ(0, mprotect(memory_, page_, PROT_NONE));
    EXPECT_EQ(0, mprotect(memory_ + page_ + bytes, page_, PROT_NONE));
  }
  ~Pages() { munmap(memory_, bytes_ + 2 * page_); }
  Pages(const Pages &) = delete;
  u8 *data() const { return memory_ + page_; }

 private:
  u64 page_, bytes_;
  u8 *memory_;
};

// The distances of input and output from the beginning of their pages, and of the longer one's end
// from the end of the pages.
constexpr std::array<u32, 3> kEnds[] = {{5, 5, 3}, {1, 15, 15}, {15, 0, 1}, {0, 7, 8},
                                        {9, 4, 0}, {5, 5, 0},   {0, 0, 0}};

TEST(UnalignedChaCha20, ReadsNoOtherBlockOfMemory) {
  Random random(95);
  const u64 bytes = 2 * static_cast<u64>(getpagesize());
  const Pages in(bytes), out(bytes);
  random.fill(in.data(), bytes);
  for (const auto &[begin, out_begin, behind] : kEnds)
    // Whole tiles, and less than one.
    for (const u64 moved : {u64{0}, bytes - 1024}) {
      SCOPED_TRACE(std::to_string(begin) + " to " + std::to_string(out_begin));
      const u64 length = bytes - moved - std::max(begin, out_begin) - behind;
      random.fill(out.data(), bytes);
      const Pieces pieces({{begin + moved, out_begin + moved, length}}, random);
      const Bytes expected = pieces.expected(in.data(), Bytes(out.data(), out.data() + bytes));
      pieces.run(in.data(), out.data(), 2);
      EXPECT_TRUE(expected == Bytes(out.data(), out.data() + bytes));
    }
}

// Runs of Poly1305, each under a cipher key and a one-time key.
class Runs {
 public:
  Runs(const std::vector<Text> &texts, u32 opens, Random &random)
      : pieces_(texts, random), opens_(opens) {
    for (u32 n = 0; n < texts.size(); ++n) {
      // The first keystream block does not belong to the text. The counter does not carry here.
      pieces_.all[n].iv[0] = 1;
      // A run may begin anywhere in its piece.
      const u64 skipped = texts[n].length > 500 && n % 2 != 0 ? CHACHA20_BLOCK_BYTES : 0;
      runs_.push_back({.at = skipped,
                       .length = texts[n].length - skipped,
                       .exponent = 1,
                       .key = n,
                       .source = HASH_SOURCE_DATA,
                       .matrices = HASH_NO_MATRICES,
                       .piece = n});
      u32 x[16];
      random.fill(reinterpret_cast<u8 *>(x), sizeof x);
      const Poly r = poly_clamp(x);
      one_time_keys_.insert(one_time_keys_.end(), r.w, r.w + 5);
      one_time_keys_.resize((n + 1) * POLY1305_KEY_WORDS);
    }
  }

  // Makes runs of additional data: the same bytes, and nothing is written.
  void make_aad() {
    for (u32 n = 0; n < runs_.size(); ++n) {
      runs_[n].source = HASH_SOURCE_AAD;
      runs_[n].at += pieces_.all[n].in;
    }
  }

  // Returns the hashes of a kernel that reads from `in` and writes to `out`.
  template <typename Kernel>
  std::vector<Bytes> by(Kernel kernel, const u8 *in, u8 *out) const {
    Words hashes(runs_.size() * HASH_WORDS);
    for (u32 group = 0; group < runs_.size(); ++group) {
      Words local(POLY1305_RUN_SHARED_WORDS);
      device::run_threads(kThreads, group, static_cast<u32>(runs_.size()), [&] {
        kernel(runs_.data(), pieces_.all.data(), pieces_.keys.data(), one_time_keys_.data(), opens_,
               in, out, in, hashes.data(), local.data());
      });
    }
    std::vector<Bytes> all;
    for (u32 n = 0; n < runs_.size(); ++n) {
      // Numbers modulo 2^130 - 5 have several representations.
      const Block zero = {{0, 0, 0, 0}};
      Poly hash;
      std::copy_n(hashes.begin() + n * HASH_WORDS, 5, hash.w);
      const Block reduced = poly_finish(hash, zero);
      const u8 *const bytes = reinterpret_cast<const u8 *>(reduced.w);
      all.emplace_back(bytes, bytes + 16);
    }
    return all;
  }

  void expect_alike(const Memory &in, const Memory &out, bool in_place) const {
    Memory in_1 = in, in_2 = in, out_1 = out, out_2 = out;
    Memory &to_1 = in_place ? in_1 : out_1, &to_2 = in_place ? in_2 : out_2;
    EXPECT_EQ(by(chacha20_poly1305_runs, in_1.data(), to_1.data()),
              by(chacha20_poly1305_runs_unaligned, in_2.data(), to_2.data()));
    EXPECT_TRUE(to_1.copy() == to_2.copy());
  }

 private:
  Pieces pieces_;
  u32 opens_;
  std::vector<HashRun> runs_;
  Words one_time_keys_;
};

TEST(UnalignedPoly1305, IsThatByBytes) {
  Random random(96);
  u64 length = 0;
  for (const u32 opens : {0u, 1u})
    for (u32 in_skew = 0; in_skew < 16; ++in_skew) {
      SCOPED_TRACE(std::to_string(in_skew) + (opens ? ", opens" : ""));
      Texts texts;
      for (u32 out_skew = 0; out_skew < 16; ++out_skew) {
        texts.add(in_skew, out_skew, 1 + (length = (length + 1) % 200));
        if (out_skew % 4 == in_skew % 4) texts.add(in_skew, out_skew, 1900 + random.below(3000));
      }
      const Memory in(texts.in_bytes(), random), out(texts.out_bytes(), random);
      Runs(texts.all(), opens, random).expect_alike(in, out, false);
    }
}

TEST(UnalignedPoly1305, IsThatByBytesInPlace) {
  Random random(97);
  for (const u32 opens : {0u, 1u}) {
    SCOPED_TRACE(opens);
    Texts texts;
    for (u32 skew = 0; skew < 16; ++skew)
      for (const u64 length : {1 + random.below(200), 1900 + random.below(3000)})
        texts.add(skew, skew, length);
    const Memory in(texts.in_bytes(), random), out(1, random);
    Runs(texts.all(), opens, random).expect_alike(in, out, true);
  }
}

TEST(UnalignedPoly1305, HashesAdditionalData) {
  Random random(98);
  Texts texts;
  for (u32 skew = 0; skew < 16; ++skew) texts.add(skew, 0, 1 + random.below(5000));
  const Memory in(texts.in_bytes(), random), out(texts.out_bytes(), random);
  Runs runs(texts.all(), 0, random);
  runs.make_aad();
  runs.expect_alike(in, out, false);
}

TEST(UnalignedPoly1305, ReadsNoOtherBlockOfMemory) {
  Random random(99);
  // With and without whole warps, and with and without a remainder of less than 64 bytes.
  const u64 page = static_cast<u64>(getpagesize());
  const Pages in(page), out(page);
  random.fill(in.data(), page);
  for (const auto &[begin, out_begin, behind] : kEnds)
    for (const u64 skipped : {0, 48, 1000}) {
      SCOPED_TRACE(std::to_string(begin) + " to " + std::to_string(out_begin));
      const u64 length = page - std::max(begin, out_begin) - behind - skipped;
      // At the beginning of the pages, and up to their end.
      for (const u64 moved : {u64{0}, skipped / 16 * 16}) {
        const Text text = {begin + moved, out_begin + moved, length};
        random.fill(out.data(), page);
        Bytes bytes(out.data(), out.data() + page);
        const Runs runs({text}, 0, random);
        EXPECT_EQ(runs.by(chacha20_poly1305_runs, in.data(), bytes.data()),
                  runs.by(chacha20_poly1305_runs_unaligned, in.data(), out.data()));
        EXPECT_TRUE(bytes == Bytes(out.data(), out.data() + page));
      }
    }
}

}  // namespace
}  // namespace lanecrypt::test::unaligned_chacha20
