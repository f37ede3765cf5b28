// The kernels as fragment shaders, for drivers without compute shaders: data are
// textures, and results come back through framebuffers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "device/gl/fragment/block_texture.h"
#include "device/gl/fragment/pass_memory.h"
#include "device/gl/fragment/rounds.h"

namespace lanecrypt::device::gl {

class FragmentKernels : public Kernels {
 public:
  FragmentKernels(const Settings &settings, const Limits &limits);
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

  const bool tells_places_;
  std::unique_ptr<Rounds> rounds_;  // for ECB encryption, if that is not to be by integers

  std::map<std::string, GLuint, std::less<>> programs_;
  GLuint vertices_ = 0;  // none, but OpenGL wants to be told so
  BlockTexture pieces_, keys_, schedules_, blocks_, others_;
  BlockTarget results_, round_keys_, key_planes_;
  PassMemory memory_;
};

}  // namespace lanecrypt::device::gl
