// Textures of numbers from 0 to 1, four to a texel, which a draw reads or writes: the state of
// AES in the layouts of shaders/round.glsl.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/papers/gl2007/drawing.h"

namespace lanecrypt::bench::gl2007 {

// An offset in a buffer object.
struct BufferPlace {
  GLuint buffer;
  uint64_t offset;
};

class ByteLayer {
 public:
  static constexpr uint32_t kMost = 4;
  // Makes `count` textures of at least `rows` rows. Their contents are lost if they are made
  // anew.
  Status reserve(Session &session, uint32_t count, uint32_t width, uint32_t rows);
  // Fills the first texture with `texels` texels, row by row.
  void fill(const BufferPlace &from, uint32_t texels);
  void read(const BufferPlace &to, uint32_t texels);
  // Binds the layer as input: texture n at texture unit n.
  void bind() const;
  // Binds the first `rows` rows of the layer as the output.
  void aim(uint32_t rows) const;
  GLuint first() const { return textures_[0]; }
  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }

 private:
  GLuint textures_[kMost] = {};
  GLuint framebuffer_ = 0;
  uint32_t count_ = 0, width_ = 0, height_ = 0;
};

// Makes a texture of constants. `format` is GL_R8, GL_RG8 or GL_RGBA8.
GLuint make_table(GLenum format, uint32_t width, uint32_t height, const void *texels);

}  // namespace lanecrypt::bench::gl2007
