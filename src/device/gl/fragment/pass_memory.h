// Where the blocks of a pass lie side by side, and how they come there and go.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/gl/fragment/byte_layer.h"
#include "device/gl/fragment/piece_passes.h"
#include "device/gl/memory.h"

namespace lanecrypt::device::gl {

// How much of the object lies behind the spot.
uint64_t room_after(const Spot &spot);

class PassMemory {
 public:
  // The blocks to compute: in the launch's own buffer where they lie side by side
  // there, else copied.
  Result<BufferPlace> gather(Session &session, const Pass &pass, const Spot &in);
  // Where the results are to be written; scatter() then takes them to where they
  // belong, if they are not there.
  Result<BufferPlace> place_results(Session &session, const Pass &pass, const Spot &out);
  void scatter(Session &session, const Pass &pass, const Spot &out);
  void close(Session &session);

 private:
  // A buffer object that only grows.
  struct Room {
    GLuint name = 0;
    uint64_t bytes = 0;
    Status reserve(Session &session, uint64_t wanted);
    void close(Session &session);
  };

  Room gathered_, computed_;
  bool is_placed_ = false;  // the results of this pass are written in their place
};

}  // namespace lanecrypt::device::gl
