// ECB encryption as chips without integers did it (shaders/round.glsl). Only a build with
// the option LANECRYPT_DIAGNOSTICS has it: for comparison with papers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/gl/fragment/byte_layer.h"
#include "device/gl/settings.h"

namespace lanecrypt::device::gl {

class Rounds {
 public:
  virtual ~Rounds() = default;
  // Of a call of encrypt(), by the side of the device's textures.
  virtual uint64_t most_blocks(const Limits &limits) const = 0;
  // `blocks` blocks, by the schedule at `keys`.
  virtual Status encrypt(Session &session, const BufferPlace &from, const BufferPlace &keys,
                         uint32_t rounds, uint32_t blocks, const BufferPlace &to) = 0;
  // The XOR of two runs of blocks, drawn `times` times, an odd number.
  virtual Status xor_blocks(Session &session, const BufferPlace &a, const BufferPlace &b,
                            uint32_t blocks, uint32_t times, const BufferPlace &to) = 0;
  virtual void close(Session &session) = 0;
};

// nullptr where `settings` ask for integers.
std::unique_ptr<Rounds> make_rounds(const Settings &settings);

}  // namespace lanecrypt::device::gl
