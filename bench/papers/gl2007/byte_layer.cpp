// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/gl2007/byte_layer.h"

#include <algorithm>
#include <bit>

namespace lanecrypt::bench::gl2007 {
namespace {

GLsizei size(uint32_t value) { return static_cast<GLsizei>(value); }

void *in_buffer(uint64_t offset) { return reinterpret_cast<void *>(offset); }

GLuint make_texture(GLenum format, uint32_t width, uint32_t height) {
  const DrawingGl &gl = drawing_gl();
  GLuint name = 0;
  gl.GenTextures(1, &name);
  gl.BindTexture(GL_TEXTURE_2D, name);
  gl.TexStorage2D(GL_TEXTURE_2D, 1, format, size(width), size(height));
  // Neighbouring entries of a table are unrelated, so nothing may be interpolated.
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_REPEAT);
  gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_REPEAT);
  return name;
}

// Calls `take` with the rectangles that cover `texels` texels: whole rows, and the beginning of
// the last row.
template <typename Take>
void for_rectangles(uint32_t texels, uint32_t width, Take take) {
  const uint32_t rows = texels / width, rest = texels % width;
  if (rows != 0) take(0u, width, rows);
  if (rest != 0) take(rows, rest, 1u);
}

}  // namespace

GLuint make_table(GLenum format, uint32_t width, uint32_t height, const void *texels) {
  const GLuint name = make_texture(format, width, height);
  drawing_gl().TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, size(width), size(height),
                             format == GL_R8    ? GL_RED
                             : format == GL_RG8 ? GL_RG
                                                : GL_RGBA,
                             GL_UNSIGNED_BYTE, texels);
  return name;
}

Status ByteLayer::reserve(Session &session, uint32_t count, uint32_t width, uint32_t rows) {
  const uint32_t height = std::bit_ceil(std::max(rows, 1u));
  if (count == count_ && width == width_ && height <= height_) return Status();
  const DrawingGl &gl = drawing_gl();
  // Both functions ignore 0.
  gl.DeleteTextures(size(kMost), textures_);
  gl.DeleteFramebuffers(1, &framebuffer_);
  std::fill_n(textures_, kMost, 0);
  count_ = 0;
  width_ = width;
  height_ = height;
  for (uint32_t n = 0; n < count; ++n) textures_[n] = make_texture(GL_RGBA8, width, height);
  gl.GenFramebuffers(1, &framebuffer_);
  gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  GLenum attachments[kMost];
  for (uint32_t n = 0; n < count; ++n) {
    attachments[n] = GL_COLOR_ATTACHMENT0 + n;
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, attachments[n], GL_TEXTURE_2D, textures_[n], 0);
  }
  gl.DrawBuffers(size(count), attachments);
  if (gl.CheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
    return {LC_ERROR_DEVICE, "the driver of " + session.properties.id +
                                 " cannot write to textures of 8-bit channels"};
  LC_TRY(session.check("making textures"));
  count_ = count;  // the layer is complete only now
  return Status();
}

void ByteLayer::fill(const BufferPlace &from, uint32_t texels) {
  const DrawingGl &gl = drawing_gl();
  gl.ActiveTexture(GL_TEXTURE0);
  gl.BindTexture(GL_TEXTURE_2D, textures_[0]);
  gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, from.buffer);
  for_rectangles(texels, width_, [&](uint32_t row, uint32_t width, uint32_t height) {
    gl.TexSubImage2D(GL_TEXTURE_2D, 0, 0, size(row), size(width), size(height), GL_RGBA,
                     GL_UNSIGNED_BYTE, in_buffer(from.offset + uint64_t{row} * width_ * 4));
  });
  gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

void ByteLayer::read(const BufferPlace &to, uint32_t texels) {
  const DrawingGl &gl = drawing_gl();
  gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  gl.ReadBuffer(GL_COLOR_ATTACHMENT0);
  gl.BindBuffer(GL_PIXEL_PACK_BUFFER, to.buffer);
  for_rectangles(texels, width_, [&](uint32_t row, uint32_t width, uint32_t height) {
    gl.ReadPixels(0, size(row), size(width), size(height), GL_RGBA, GL_UNSIGNED_BYTE,
                  in_buffer(to.offset + uint64_t{row} * width_ * 4));
  });
  gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}

void ByteLayer::bind() const {
  const DrawingGl &gl = drawing_gl();
  for (uint32_t n = 0; n < count_; ++n) {
    gl.ActiveTexture(GL_TEXTURE0 + n);
    gl.BindTexture(GL_TEXTURE_2D, textures_[n]);
  }
}

void ByteLayer::aim(uint32_t rows) const {
  const DrawingGl &gl = drawing_gl();
  gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  gl.Viewport(0, 0, size(width_), size(rows));
}

}  // namespace lanecrypt::bench::gl2007
