// A texture whose pixels are blocks of 16 bytes, row after row, and how bytes
// come into it from buffers and go back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/papers/gl2007/drawing.h"

namespace lanecrypt::bench::gl2007 {

constexpr uint32_t kRowBlocks = 1024;

// The most blocks in a texture of at most `side` rows.
uint64_t most_texture_blocks(uint32_t side);

class BlockTexture {
 public:
  // At least this many blocks; what was in it is lost where it grows.
  Status reserve(Session &session, uint32_t blocks);
  // Its first blocks from a buffer, or from memory.
  void fill(GLuint buffer, uint64_t offset, uint32_t blocks);
  void fill(const void *memory, uint32_t blocks);
  GLuint name() const { return name_; }

 private:
  GLuint name_ = 0;
  uint32_t rows_ = 0;
};

// What fragments write to: up to two textures of blocks.
class BlockTarget {
 public:
  static constexpr uint32_t kMost = 2;
  // Binds `count` textures, each of as many blocks, and sets the view to them.
  Status begin(Session &session, uint32_t count, uint32_t blocks);
  // The first blocks of a texture to a buffer.
  void read(uint32_t number, uint32_t blocks, GLuint buffer, uint64_t offset);
  const BlockTexture &texture(uint32_t number) const { return textures_[number]; }

 private:
  BlockTexture textures_[kMost];
  GLuint framebuffer_ = 0;
};

}  // namespace lanecrypt::bench::gl2007
