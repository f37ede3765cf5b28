// The kernels as fragment shaders, for drivers without compute shaders: data are
// textures, and results come back through framebuffers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "device/gl/fragment/block_texture.h"
#include "device/gl/fragment/pass_memory.h"
#include "device/gl/fragment/rounds.h"

namespace lanecrypt::device::gl {

class FragmentKernels : public Kernels {
 public:
  FragmentKernels(const Settings &settings, const Limits &limits)
      : settings_(settings), tells_places_(limits.tells_places), rounds_(settings) {}
  std::vector<std::string> names() const override;
  Status launch(Session &session, const Launch &launch) override;
  void close(Session &session) override;

 private:
  Result<GLuint> use_program(Session &session, const std::string &name);
  Status expand_keys(Session &session, const Launch &launch);
  Status run_mode(Session &session, const Launch &launch);
  // No part of AES: what its XOR alone takes.
  Status xor_blocks(Session &session, const Launch &launch);
  Status tell_places(Session &session, const Launch &launch);
  Status turn_keys(Session &session, bool inverse, uint32_t blocks);
  Status draw(Session &session, const std::string &kernel, const Pass &pass, uint32_t rounds,
              const BufferPlace &from, const BufferPlace &to);

  const Settings settings_;
  const bool tells_places_;
  Rounds rounds_;

  std::map<std::string, GLuint, std::less<>> programs_;
  GLuint vertices_ = 0;  // none, but OpenGL wants to be told so
  BlockTexture pieces_, keys_, schedules_, blocks_, others_;
  BlockTarget results_, round_keys_, key_planes_;
  PassMemory memory_;
};

}  // namespace lanecrypt::device::gl
