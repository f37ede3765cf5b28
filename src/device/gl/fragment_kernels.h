// The kernels as fragment shaders, for drivers without compute shaders: data are
// textures, and results come back through framebuffers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "device/gl/block_texture.h"
#include "device/gl/piece_passes.h"

namespace lanecrypt::device::gl {

struct Spot;

class FragmentKernels : public Kernels {
 public:
  std::vector<std::string> names() const override;
  Status launch(Session &session, const Launch &launch) override;
  void close(Session &session) override;

 private:
  // A buffer object of whole blocks that only grows.
  struct Room {
    GLuint name = 0;
    uint64_t bytes = 0;
    Status reserve(Session &session, uint64_t wanted);
  };

  Result<GLuint> use_program(Session &session, const std::string &name);
  Status expand_keys(Session &session, const Launch &launch);
  Status run_mode(Session &session, const Launch &launch);
  Status gather(Session &session, const Pass &pass, const Spot &in);
  Status draw(Session &session, GLuint program, const Pass &pass, uint32_t rounds);
  Status scatter(Session &session, const Pass &pass, const Spot &out);

  std::map<std::string, GLuint, std::less<>> programs_;
  GLuint vertices_ = 0;  // none, but OpenGL wants to be told so
  BlockTexture pieces_, keys_, schedules_, blocks_;
  BlockTarget results_, round_keys_;
  Room gathered_, computed_;
};

}  // namespace lanecrypt::device::gl
