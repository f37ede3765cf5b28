// A texture whose pixels are blocks of 16 bytes, row by row, and its transfers from and to
// buffers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/papers/gl2007/drawing.h"

namespace lanecrypt::bench::gl2007 {

constexpr uint32_t kRowBlocks = 1024;

// The most blocks in a texture with at most `side` rows.
uint64_t most_texture_blocks(uint32_t side);

class BlockTexture {
 public:
  // Makes the texture large enough for `blocks` blocks. Its contents are lost if it grows.
  Status reserve(Session &session, uint32_t blocks);
  // Fills the first blocks from a buffer, or from memory.
  void fill(GLuint buffer, uint64_t offset, uint32_t blocks);
  void fill(const void *memory, uint32_t blocks);
  GLuint name() const { return name_; }

 private:
  GLuint name_ = 0;
  uint32_t rows_ = 0;
};

// The target of fragment shaders: a framebuffer with up to two textures of blocks.
class BlockTarget {
 public:
  static constexpr uint32_t kMost = 2;
  // Binds `count` textures of `blocks` blocks each, and sets the viewport to them.
  Status begin(Session &session, uint32_t count, uint32_t blocks);
  // Copies the first blocks of texture `number` to a buffer.
  void read(uint32_t number, uint32_t blocks, GLuint buffer, uint64_t offset);
  const BlockTexture &texture(uint32_t number) const { return textures_[number]; }

 private:
  BlockTexture textures_[kMost];
  GLuint framebuffer_ = 0;
};

}  // namespace lanecrypt::bench::gl2007
