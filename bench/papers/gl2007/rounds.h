// ECB encryption in the way of GPUs without integer arithmetic (shaders/round.glsl).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/papers/gl2007/byte_layer.h"
#include "bench/papers/gl2007/gl2007.h"

namespace lanecrypt::bench::gl2007 {

class Rounds {
 public:
  virtual ~Rounds() = default;
  // The most blocks in one call of encrypt().
  virtual uint64_t most_blocks() const = 0;
  // Encrypts `blocks` blocks with the key schedule at `keys`.
  virtual Status encrypt(Session &session, const BufferPlace &from, const BufferPlace &keys,
                         uint32_t rounds, uint32_t blocks, const BufferPlace &to) = 0;
  // XORs two ranges of blocks. The draw is repeated `times` times, an odd number.
  virtual Status xor_blocks(Session &session, const BufferPlace &a, const BufferPlace &b,
                            uint32_t blocks, uint32_t times, const BufferPlace &to) = 0;
};

// `texture_side` is the most rows of a texture. Returns nullptr if `way` computes with integers.
std::unique_ptr<Rounds> make_rounds(const Way &way, uint32_t texture_side);

}  // namespace lanecrypt::bench::gl2007
