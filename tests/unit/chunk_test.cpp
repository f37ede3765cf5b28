// How requests are cut into chunks.
//
// SPDX-License-Identifier: Apache-2.0
#include "schedule/chunk.h"

#include <gtest/gtest.h>

namespace lanecrypt::schedule {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr ChunkLimits kLimits = {16 * kMiB, 1 << 16};

// CBC encryption of streams; their bytes are not looked at.
RequestPointer request_of(const std::vector<uint64_t> &lengths) {
  static uint8_t key[16];
  CipherJob job;
  job.kind = {LC_AES_CBC, LC_ENCRYPT, 16};
  job.memory = LC_MEMORY_HOST;
  job.key_count = 1;
  for (const uint64_t length : lengths) {
    CipherMessage message = {};
    message.length = length;
    message.in = message.out = key;
    job.messages.push_back(message);
    job.bytes += length;
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
    EXPECT_EQ(&chunk != &chunks.back(), chunk.is_beside);
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

// Chunks of whole ones would have too few lanes, also where only one is long.
TEST(Chunks, LongStreamsOfAChainPassInSlices) {
  std::vector<uint64_t> one_long(4000, 16 << 10);
  one_long.back() = kMiB;
  for (const std::vector<uint64_t> &lengths : {std::vector<uint64_t>(64, kMiB), one_long}) {
    const RequestPointer request = request_of(lengths);
    std::vector<uint64_t> done(lengths.size());
    for (const Chunk &chunk : cut_all(request)) {
      EXPECT_FALSE(chunk.is_beside);
      EXPECT_EQ(request.get(), chunk.sliced);
      for (const ChunkPiece &part : chunk.pieces) {
        EXPECT_EQ(done[part.piece.message], part.piece.offset);
        done[part.piece.message] += part.piece.length;
      }
    }
    EXPECT_EQ(lengths, done);
  }
}

TEST(Chunks, WhatFitsIsNoPartOfMore) {
  const RequestPointer request = request_of(std::vector<uint64_t>(1000, 16 << 10));
  const std::vector<Chunk> chunks = cut_all(request);
  ASSERT_EQ(1u, chunks.size());
  EXPECT_FALSE(chunks[0].is_beside);
  EXPECT_EQ(nullptr, chunks[0].sliced);
}

}  // namespace
}  // namespace lanecrypt::schedule
