// Where the blocks of a pass lie side by side, and how they come there and go.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/papers/gl2007/byte_layer.h"
#include "bench/papers/gl2007/piece_passes.h"
#include "device/gl/memory.h"

namespace lanecrypt::bench::gl2007 {

using device::gl::Spot;

// How many bytes of the object lie after the spot.
uint64_t bytes_after(const Spot &spot);

class PassMemory {
 public:
  // The blocks to compute: in the launch's own buffer where they lie side by side
  // there, else copied.
  Result<BufferPlace> gather(Session &session, const Pass &pass, const Spot &in);
  // Where the results are to be written; scatter() then takes them to where they
  // belong, if they are not there.
  Result<BufferPlace> place_results(Session &session, const Pass &pass, const Spot &out);
  void scatter(const Pass &pass, const Spot &out);

 private:
  // A buffer object that only grows.
  struct Growing {
    GLuint name = 0;
    uint64_t bytes = 0;
    Status reserve(Session &session, uint64_t wanted);
  };

  Growing gathered_, computed_;
  bool is_placed_ = false;  // the results of this pass are written in their place
};

}  // namespace lanecrypt::bench::gl2007
