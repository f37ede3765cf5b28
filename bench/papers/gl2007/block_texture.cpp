// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/gl2007/block_texture.h"

#include <algorithm>
#include <bit>

namespace lanecrypt::bench::gl2007 {
namespace {

GLsizei size(uint32_t value) { return static_cast<GLsizei>(value); }

// Calls `take` with the rectangles that cover `blocks` blocks: whole rows, and the beginning of
// the last row.
template <typename Take>
void for_rectangles(uint32_t blocks, Take take) {
  const uint32_t rows = blocks / kRowBlocks, rest = blocks % kRowBlocks;
  if (rows != 0) take(0u, kRowBlocks, rows);
  if (rest != 0) take(rows, rest, 1u);
}

// If a buffer is bound, OpenGL takes a pointer as an offset into it.
const uint8_t *in_buffer(uint64_t offset) { return reinterpret_cast<const uint8_t *>(offset); }

void fill_bound(const DrawingGl &gl, GLuint texture, const uint8_t *from, uint32_t blocks) {
  gl.BindTexture(GL_TEXTURE_2D, texture);
  for_rectangles(blocks, [&](uint32_t row, uint32_t width, uint32_t height) {
    gl.TexSubImage2D(GL_TEXTURE_2D, 0, 0, size(row), size(width), size(height), GL_RGBA_INTEGER,
                     GL_UNSIGNED_INT, from + uint64_t{row} * kRowBlocks * 16);
  });
}

}  // namespace

uint64_t most_texture_blocks(uint32_t side) { return uint64_t{kRowBlocks} * std::bit_floor(side); }

Status BlockTexture::reserve(Session &session, uint32_t blocks) {
  const uint32_t rows = std::bit_ceil(std::max((blocks + kRowBlocks - 1) / kRowBlocks, 1u));
  if (rows <= rows_) return Status();
  const DrawingGl &gl = drawing_gl();
  rows_ = 0;
  gl.DeleteTextures(1, &name_);  // ignores 0
  gl.GenTextures(1, &name_);
  gl.BindTexture(GL_TEXTURE_2D, name_);
  gl.TexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA32UI, size(kRowBlocks), size(rows));
  // Integer textures cannot be interpolated: with any other filter the texture is incomplete.
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  LC_TRY(session.check("making a texture"));
  rows_ = rows;
  return Status();
}

void BlockTexture::fill(GLuint buffer, uint64_t offset, uint32_t blocks) {
  const DrawingGl &gl = drawing_gl();
  gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
  fill_bound(gl, name_, in_buffer(offset), blocks);
  gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

void BlockTexture::fill(const void *memory, uint32_t blocks) {
  fill_bound(drawing_gl(), name_, static_cast<const uint8_t *>(memory), blocks);
}

Status BlockTarget::begin(Session &session, uint32_t count, uint32_t blocks) {
  for (uint32_t n = 0; n < count; ++n) LC_TRY(textures_[n].reserve(session, blocks));
  const DrawingGl &gl = drawing_gl();
  if (framebuffer_ == 0) gl.GenFramebuffers(1, &framebuffer_);
  gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  GLenum attachments[kMost];
  for (uint32_t n = 0; n < kMost; ++n) {
    attachments[n] = GL_COLOR_ATTACHMENT0 + n;
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, attachments[n], GL_TEXTURE_2D,
                            n < count ? textures_[n].name() : 0, 0);
  }
  gl.DrawBuffers(size(count), attachments);
  gl.Viewport(0, 0, size(kRowBlocks), size((blocks + kRowBlocks - 1) / kRowBlocks));
  if (gl.CheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
    return {LC_ERROR_DEVICE, "the driver of " + session.properties.id +
                                 " cannot write to textures of 128-bit pixels"};
  return session.check("binding textures to write to");
}

void BlockTarget::read(uint32_t number, uint32_t blocks, GLuint buffer, uint64_t offset) {
  const DrawingGl &gl = drawing_gl();
  gl.ReadBuffer(GL_COLOR_ATTACHMENT0 + number);
  gl.BindBuffer(GL_PIXEL_PACK_BUFFER, buffer);
  for_rectangles(blocks, [&](uint32_t row, uint32_t width, uint32_t height) {
    gl.ReadPixels(0, size(row), size(width), size(height), GL_RGBA_INTEGER, GL_UNSIGNED_INT,
                  const_cast<uint8_t *>(in_buffer(offset + uint64_t{row} * kRowBlocks * 16)));
  });
  gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}

}  // namespace lanecrypt::bench::gl2007
