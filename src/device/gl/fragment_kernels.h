// The kernels as fragment shaders, for drivers without compute shaders: data are
// textures, and results come back through framebuffers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "device/gl/block_texture.h"
#include "device/gl/piece_passes.h"
#include "device/gl/rounds.h"

namespace lanecrypt::device::gl {

struct Spot;

class FragmentKernels : public Kernels {
 public:
  explicit FragmentKernels(const Settings &settings) : settings_(settings), rounds_(settings) {}
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
  // Where the blocks of a pass lie side by side: in the launch's own buffer where
  // they do so there.
  Result<BufferPlace> gather(Session &session, const Pass &pass, const Spot &in);
  // The same for its results, which scatter() then takes to where they belong.
  Result<BufferPlace> place_results(Session &session, const Pass &pass, const Spot &out);
  void scatter(Session &session, const Pass &pass, const Spot &out);
  Status draw(Session &session, const std::string &kernel, const Pass &pass, uint32_t rounds,
              const BufferPlace &from, const BufferPlace &to);

  const Settings settings_;
  Rounds rounds_;

  std::map<std::string, GLuint, std::less<>> programs_;
  GLuint vertices_ = 0;  // none, but OpenGL wants to be told so
  BlockTexture pieces_, keys_, schedules_, blocks_;
  BlockTarget results_, round_keys_;
  Room gathered_, computed_;
};

}  // namespace lanecrypt::device::gl
