// EGL and OpenGL (ES), loaded at run time: nothing is linked. The functions of OpenGL are looked up
// through EGL, so that one table serves OpenGL ES and desktop OpenGL. Functions that a context may
// lack are null if it does.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define EGL_NO_X11
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl32.h>
// Must follow gl32.h.
#include <GLES2/gl2ext.h>

#include <string>

namespace lanecrypt::device::gl {

// clang-format off
#define LC_EGL_FUNCTIONS(X) \
  X(BindAPI) X(ChooseConfig) X(CreateContext) X(CreatePbufferSurface) X(DestroyContext) \
  X(DestroySurface) X(GetDisplay) X(GetError) X(GetProcAddress) X(Initialize) X(MakeCurrent) \
  X(QueryString) X(ReleaseThread)

#define LC_GL_FUNCTIONS(X) \
  X(AttachShader) X(BindBuffer) X(BindBufferRange) X(BufferData) X(BufferSubData) \
  X(ClientWaitSync) X(CompileShader) X(CopyBufferSubData) X(CreateProgram) X(CreateShader) \
  X(DeleteBuffers) X(DeleteProgram) X(DeleteShader) X(DeleteSync) X(DispatchCompute) X(FenceSync) \
  X(Finish) X(Flush) X(GenBuffers) X(GetError) X(GetInteger64v) X(GetIntegerv) \
  X(GetProgramInfoLog) X(GetProgramiv) X(GetShaderInfoLog) X(GetShaderiv) X(GetString) \
  X(GetStringi) X(LinkProgram) X(MapBufferRange) X(MemoryBarrier) X(ShaderSource) X(Uniform1ui) \
  X(UnmapBuffer) X(UseProgram)

// Functions that some contexts lack.
#define LC_GL_OPTIONAL(X) \
  X(BufferStorageEXT) X(DeleteQueriesEXT) X(GenQueriesEXT) X(GetGraphicsResetStatusEXT) \
  X(GetQueryObjectui64vEXT) X(QueryCounterEXT)

// clang-format on

struct Egl {
#define LC_MEMBER(name) decltype(&::egl##name) name = nullptr;
  LC_EGL_FUNCTIONS(LC_MEMBER)
#undef LC_MEMBER
  // Functions of extensions; null if the library lacks them.
  PFNEGLGETPLATFORMDISPLAYEXTPROC GetPlatformDisplay = nullptr;
  PFNEGLQUERYDEVICESEXTPROC QueryDevices = nullptr;
  PFNEGLQUERYDEVICESTRINGEXTPROC QueryDeviceString = nullptr;
};

struct Gl {
#define LC_MEMBER(name) decltype(&::gl##name) name = nullptr;
  LC_GL_FUNCTIONS(LC_MEMBER)
  LC_GL_OPTIONAL(LC_MEMBER)
#undef LC_MEMBER
};

// Returns the library, opened at the first call; nullptr if there is none, or if the process was
// forked after the library had been used. Thread-safe.
const Egl *egl();
// Whether a parent process called egl() before it forked this process.
bool is_forked();

// Returns OpenGL's functions; a context must be current. Returns nullptr, with the reason in `why`,
// if a required function is missing.
const Gl *load_gl(std::string *why);

// The function of OpenGL with this name, such as "glFinish", or, where the name ends in EXT, that
// of the same name without. nullptr where there is none. Any thread, once egl() has given a
// library.
void *find_gl_function(const char *name);

// For a person whose machine lacks libraries: what brings them.
inline constexpr char kNoEgl[] =
    "there is no libEGL.so.1 that can be loaded (Debian's packages libegl1 and libgles2; for "
    "desktop OpenGL libopengl0 or libgl1 too)";

}  // namespace lanecrypt::device::gl
