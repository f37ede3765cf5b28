// OpenGL's functions for drawing. The library itself has those for compute shaders.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/gl/session.h"

namespace lanecrypt::bench::gl2007 {

using device::gl::Session;

// clang-format off
#define LC_DRAWING_FUNCTIONS(X) \
  X(ActiveTexture) X(BindFramebuffer) X(BindTexture) X(BindVertexArray) \
  X(CheckFramebufferStatus) X(DeleteFramebuffers) X(DeleteTextures) \
  X(Disable) X(DrawArrays) X(DrawBuffers) X(Enable) X(FramebufferTexture2D) X(GenFramebuffers) \
  X(GenTextures) X(GenVertexArrays) X(GetUniformLocation) X(ReadBuffer) X(ReadPixels) \
  X(TexParameteri) X(TexStorage2D) X(TexSubImage2D) X(Uniform1f) X(Uniform1i) X(Uniform2f) \
  X(Viewport)
// clang-format on

struct DrawingGl : device::gl::Gl {
#define LC_MEMBER(name) decltype(&::gl##name) name = nullptr;
  LC_DRAWING_FUNCTIONS(LC_MEMBER)
#undef LC_MEMBER
  // Exists only in desktop OpenGL, so the headers of OpenGL ES do not declare it.
  void(GL_APIENTRYP LogicOp)(GLenum operation) = nullptr;
};

// Returns an error if the driver lacks one of the functions. Must be called before they are used,
// with a current context.
Status check_drawing();
const DrawingGl &drawing_gl();

}  // namespace lanecrypt::bench::gl2007
