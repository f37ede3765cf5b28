// The device's kernels as fragment shaders.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "bench/papers/gl2007/block_texture.h"
#include "bench/papers/gl2007/gl2007.h"
#include "bench/papers/gl2007/pass_memory.h"
#include "bench/papers/gl2007/rounds.h"

namespace lanecrypt::bench::gl2007 {

using device::Buffer;
using device::Launch;

// Kernels that no cipher job uses: see gl2007.h.
inline constexpr char kXorBlocks[] = "xor_blocks", kTellPlaces[] = "tell_places";

class FragmentKernels : public device::gl::Kernels {
 public:
  // The context with these limits must be current.
  FragmentKernels(const Way &way, const device::gl::Limits &limits);
  std::vector<std::string> names() const override;
  Status launch(Session &session, const Launch &launch) override;
  // The OpenGL objects are freed with the context.
  void close(Session &) override {}

 private:
  Result<GLuint> use_program(Session &session, const std::string &name);
  Status expand_keys(Session &session, const Launch &launch);
  Status run_mode(Session &session, const Launch &launch);
  Status xor_blocks(Session &session, const Launch &launch);
  Status tell_places(Session &session, const Launch &launch);
  Status make_key_planes(Session &session, uint32_t blocks);
  Status draw(Session &session, const std::string &kernel, const Pass &pass, uint32_t rounds,
              const BufferPlace &from, const BufferPlace &to);

  const bool tells_places_;
  uint32_t texture_side_;
  std::unique_ptr<Rounds> rounds_;  // for ECB, unless the way computes with integers

  std::map<std::string, GLuint, std::less<>> programs_;
  GLuint vertices_ = 0;  // an empty vertex array, which OpenGL requires
  BlockTexture pieces_, keys_, schedules_, blocks_, others_;
  BlockTarget results_, round_keys_, key_planes_;
  PassMemory memory_;
};

}  // namespace lanecrypt::bench::gl2007
