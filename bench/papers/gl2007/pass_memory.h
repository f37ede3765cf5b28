// The contiguous blocks of a pass, and their transfers from and to the pieces of a launch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/papers/gl2007/byte_layer.h"
#include "bench/papers/gl2007/piece_passes.h"
#include "device/gl/memory.h"

namespace lanecrypt::bench::gl2007 {

using device::gl::Spot;

// The number of bytes of the buffer object from the spot to its end.
uint64_t bytes_after(const Spot &spot);

class PassMemory {
 public:
  // Returns the blocks to compute: in the launch's own buffer if they are contiguous and aligned
  // there, otherwise copied to a buffer of this object.
  Result<BufferPlace> gather(Session &session, const Pass &pass, const Spot &in);
  // Returns where the pass must write its results: their final place if possible, otherwise a
  // buffer of this object, from which scatter() copies them.
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
  bool is_placed_ = false;  // the pass writes its results to their final place
};

}  // namespace lanecrypt::bench::gl2007
