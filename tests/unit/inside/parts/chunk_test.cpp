// How requests are cut into chunks, and how a chunk's bytes pass through the ring. No device is
// needed.
//
// SPDX-License-Identifier: Apache-2.0
#include "work/chunk.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline/host_spans.h"
#include "unit/support/random_bytes.h"

namespace lanecrypt::runtime {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr ChunkLimits kLimits = {16 * kMiB, 1 << 16};

// Returns a request for CBC encryption of streams. Their bytes do not matter.
RequestPointer request_of(const std::vector<uint64_t> &lengths) {
  static uint8_t key[16];
  CipherJob job = {};
  job.kind = {LC_AES_CBC, LC_ENCRYPT, 16};
  job.memory = LC_MEMORY_HOST;
  job.key_count = 1;
  for (const uint64_t length : lengths) {
    CipherMessage message = {};
    message.length = length;
    message.in = message.out = key;
    job.messages.push_back(message);
    job.bytes += length;
    job.longest_stream_bytes = std::max(job.longest_stream_bytes, length);
  }
  return std::make_shared<Request>(std::move(job), nullptr);
}

std::vector<Chunk> cut_all(const RequestPointer &request) {
  std::list<RequestPointer> queue = {request};
  std::vector<Chunk> chunks;
  while (!queue.empty()) chunks.push_back(cut_chunk(queue, kLimits));
  return chunks;
}

TEST(Chunks, ShortStreamsOfAChainPassWhole) {
  const RequestPointer request = request_of(std::vector<uint64_t>(4000, 16 << 10));
  uint32_t next = 0;
  const std::vector<Chunk> chunks = cut_all(request);
  EXPECT_EQ(4u, chunks.size());
  for (const Chunk &chunk : chunks) {
    EXPECT_EQ(&chunk != &chunks.back(), chunk.is_concurrent);
    EXPECT_EQ(nullptr, chunk.sliced);
    EXPECT_LE(chunk.pieces.size(), 1024u);
    for (const ChunkPiece &part : chunk.pieces) {
      EXPECT_EQ(next++, part.piece.message);
      EXPECT_TRUE(part.request->ends_message(part.piece));
      EXPECT_EQ(0u, part.piece.offset);
    }
  }
  EXPECT_EQ(4000u, next);
}

// Chunks of whole streams would have too few threads, even if only one stream is long.
TEST(Chunks, LongStreamsOfAChainPassInSlices) {
  std::vector<uint64_t> one_long(4000, 16 << 10);
  one_long.back() = kMiB;
  for (const std::vector<uint64_t> &lengths : {std::vector<uint64_t>(64, kMiB), one_long}) {
    const RequestPointer request = request_of(lengths);
    std::vector<uint64_t> done(lengths.size());
    for (const Chunk &chunk : cut_all(request)) {
      EXPECT_FALSE(chunk.is_concurrent);
      EXPECT_EQ(request.get(), chunk.sliced);
      for (const ChunkPiece &part : chunk.pieces) {
        EXPECT_EQ(done[part.piece.message], part.piece.offset);
        done[part.piece.message] += part.piece.length;
      }
    }
    EXPECT_EQ(lengths, done);
  }
}

// Each request occurs once, in the order of its pieces.
TEST(Chunks, OwnTheRequestsOfTheirPieces) {
  std::list<RequestPointer> queue;
  for (const uint64_t bytes : {uint64_t{48}, uint64_t{16}, uint64_t{400}})
    queue.push_back(request_of({bytes, 1008}));
  const std::vector<RequestPointer> all(queue.begin(), queue.end());
  const Chunk chunk = cut_chunk(queue, kLimits);
  EXPECT_EQ(all, chunk.requests);
  ASSERT_EQ(6u, chunk.pieces.size());
  for (size_t n = 0; n < chunk.pieces.size(); ++n)
    EXPECT_EQ(all[n / 2].get(), chunk.pieces[n].request);
  for (const RequestPointer &request : all) EXPECT_EQ(1u, request->chunks_under_way);
}

TEST(Chunks, WhatFitsIsNoPartOfMore) {
  const RequestPointer request = request_of(std::vector<uint64_t>(1000, 16 << 10));
  const std::vector<Chunk> chunks = cut_all(request);
  ASSERT_EQ(1u, chunks.size());
  EXPECT_FALSE(chunks[0].is_concurrent);
  EXPECT_EQ(nullptr, chunks[0].sliced);
}

// Returns a job of one message. Its bytes do not matter.
CipherJob one_message(lc_cipher cipher, lc_direction direction, uint64_t bytes, uint64_t unit) {
  CipherJob job = {};
  job.kind = {cipher, direction, 32};
  job.memory = LC_MEMORY_HOST;
  job.key_count = 1;
  job.data_unit_bytes = unit;
  CipherMessage message = {};
  message.length = bytes;
  message.in = message.out = reinterpret_cast<uint8_t *>(0x7f0000000130);
  job.messages.push_back(message);
  job.bytes = job.longest_stream_bytes = bytes;
  return job;
}

constexpr uint64_t kLeast = 4 * kMiB, kMost = 16 * kMiB;

TEST(ChunkBytes, GrowAsTheRootOfWhatWaits) {
  const auto of = [](uint64_t waiting, uint64_t least, uint64_t most) {
    return chunk_bytes(one_message(LC_AES_CTR, LC_ENCRYPT, waiting, 0), waiting, least, most);
  };
  constexpr std::pair<uint64_t, uint64_t> kSizes[] = {
      {0, 4}, {1, 4}, {64, 4}, {128, 8}, {256, 8}, {512, 12}, {1024, 16}, {1 << 20, 16}};
  for (const auto &[waiting, bytes] : kSizes) {
    EXPECT_EQ(bytes * kMiB, of(waiting * kMiB, kLeast, kMost)) << waiting;
    // In proportion to the configured sizes.
    EXPECT_EQ(bytes << 14, of(waiting << 14, kLeast >> 6, kMost >> 6)) << waiting;
  }
}

// The cost is the time in which the bus is idle, and that of the chunks themselves, 7.5 us each at
// 50 GB/s.
TEST(ChunkBytes, CostLittleMoreThanTheBestWould) {
  const auto cost = [](uint64_t waiting, uint64_t bytes) {
    return static_cast<double>(bytes + (waiting + bytes - 1) / bytes * (384 << 10));
  };
  const CipherJob job = one_message(LC_AES_CTR, LC_ENCRYPT, kMiB, 0);
  for (uint64_t waiting = 20 * kMiB; waiting <= 4096 * kMiB; waiting += 4 * kMiB) {
    double best = 1e18;
    for (uint64_t bytes = kLeast; bytes <= kMost; bytes += kLeast)
      best = std::min(best, cost(waiting, bytes));
    EXPECT_LE(cost(waiting, chunk_bytes(job, waiting, kLeast, kMost)), best * 1.06) << waiting;
  }
}

TEST(ChunkBytes, HoldADataUnit) {
  const auto of = [](lc_cipher cipher, uint64_t unit, uint64_t waiting) {
    return chunk_bytes(one_message(cipher, LC_ENCRYPT, waiting, unit), waiting, kLeast, kMost);
  };
  EXPECT_EQ(8 * kMiB, of(LC_AES_XTS, 4096, 256 * kMiB));
  EXPECT_EQ(13 * kMiB, of(LC_AES_XTS, 13 * kMiB, 256 * kMiB));
  EXPECT_EQ(kMost, of(LC_AES_XTS, kMost, kMiB));
  // A message is one data unit, of any length.
  EXPECT_EQ(kMost, of(LC_AES_XTS, 0, 256 * kMiB));
  EXPECT_EQ(kMost, of(LC_AES_CBC, 0, 256 * kMiB));
}

// The whole job is cut, in order, between pages or units.
TEST(ChunkBytes, CutAJobWhole) {
  constexpr uint64_t kBytes = 200 * kMiB + 5008, kUnit = 3 * kMiB + 16;
  for (const lc_cipher cipher : {LC_AES_CTR, LC_AES_XTS}) {
    const uint64_t unit = cipher == LC_AES_XTS ? kUnit : 0;
    const auto request =
        std::make_shared<Request>(one_message(cipher, LC_ENCRYPT, kBytes, unit), nullptr);
    const ChunkLimits limits = {chunk_bytes(request->job, kBytes, kLeast, kMost), 1 << 16};
    EXPECT_EQ(8 * kMiB, limits.bytes);
    std::list<RequestPointer> queue = {request};
    uint64_t at = 0;
    while (!queue.empty()) {
      const Chunk chunk = cut_chunk(queue, limits);
      ASSERT_EQ(1u, chunk.pieces.size());
      const Piece &piece = chunk.pieces[0].piece;
      ASSERT_EQ(at, piece.offset);
      ASSERT_NE(0u, piece.length);
      EXPECT_LE(piece.length, limits.bytes);
      at += piece.length;
      if (queue.empty()) break;
      EXPECT_GE(piece.length, limits.bytes - std::max<uint64_t>(4096, unit));
      if (unit != 0)
        EXPECT_EQ(0u, at % unit);
      else
        EXPECT_EQ(0u, (reinterpret_cast<uint64_t>(request->job.messages[0].in) + at) % 4096);
    }
    EXPECT_EQ(kBytes, at);
  }
}

// Short copies and long ones, at any address. No byte outside of them is written.
TEST(HostSpans, PassTheRingWhole) {
  test::Random random(20);
  for (int n = 0; n < 40; ++n) {
    std::vector<uint8_t> from(3 * kMiB);
    random.fill(from.data(), from.size());
    std::vector<uint8_t> ring(4 * kMiB, 0xA5), to(from.size(), 0x5A), expected = to;
    HostSpans in, out;
    uint64_t at = 0;
    for (uint64_t host = random.below(200); host < from.size();) {
      const uint64_t length = std::min(random.below(2) ? random.below(300) : random.below(2 * kMiB),
                                       from.size() - host);
      in.add(from.data() + host, at, length);
      out.add(to.data() + host, at, length);
      std::copy_n(from.begin() + long(host), length, expected.begin() + long(host));
      host += length + random.below(3) * random.below(5000);
      at += length + random.below(2) * 16;
    }
    const uint64_t bytes = in.lay_in_ring();
    ASSERT_EQ(bytes, out.lay_in_ring());
    ASSERT_LE(bytes, ring.size());
    for (size_t part = 0; part < in.count_parts(); ++part) in.copy_in(ring.data(), part);
    for (size_t part = 0; part < out.count_parts(); ++part) out.copy_out(ring.data(), part);
    EXPECT_TRUE(to == expected) << n;
    EXPECT_TRUE(std::all_of(ring.begin() + long(bytes), ring.end(), [](uint8_t byte) {
      return byte == 0xA5;
    })) << n;
  }
}

}  // namespace
}  // namespace lanecrypt::runtime
