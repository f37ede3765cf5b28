// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/gl2007/drawing.h"

namespace lanecrypt::bench::gl2007 {
namespace {

struct Loaded {
  DrawingGl gl;
  std::string missing;  // the first function that is missing

  Loaded() {
    std::string why;
    if (const device::gl::Gl *const computing = device::gl::load_gl(&why); computing != nullptr)
      static_cast<device::gl::Gl &>(gl) = *computing;
    const auto find = [&](auto &function, const char *name) {
      void *const found = device::gl::find_gl_function(name);
      if (found == nullptr && missing.empty()) missing = name;
      function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
    };
#define LC_FIND(name) find(gl.name, "gl" #name);
    LC_DRAWING_FUNCTIONS(LC_FIND)
#undef LC_FIND
    gl.LogicOp = reinterpret_cast<decltype(gl.LogicOp)>(device::gl::find_gl_function("glLogicOp"));
  }
};

const Loaded &loaded() {
  static const Loaded all;
  return all;
}

}  // namespace

Status check_drawing() {
  if (loaded().missing.empty()) return Status();
  return {LC_ERROR_NO_DEVICE, "the driver is too old: it has no " + loaded().missing};
}

const DrawingGl &drawing_gl() { return loaded().gl; }

}  // namespace lanecrypt::bench::gl2007
