// ECB encryption as chips without integers did it (shaders/round.glsl), a draw for
// each round or part of one, between two layers in turn.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "device/gl/fragment/byte_layer.h"
#include "device/gl/settings.h"

namespace lanecrypt::device::gl {

class Rounds {
 public:
  explicit Rounds(const Settings &settings) : settings_(settings) {}
  // Of a call of encrypt(), by the side of the device's textures.
  uint64_t most_blocks(const Limits &limits) const;
  // `blocks` blocks, by the schedule at `keys`.
  Status encrypt(Session &session, const BufferPlace &from, const BufferPlace &keys,
                 uint32_t rounds, uint32_t blocks, const BufferPlace &to);
  // The XOR of two runs of blocks, drawn `times` times, an odd number.
  Status xor_blocks(Session &session, const BufferPlace &a, const BufferPlace &b, uint32_t blocks,
                    uint32_t times, const BufferPlace &to);
  void close(Session &session);

 private:
  Status make_tables(Session &session);
  Result<GLuint> use_program(Session &session, int step);
  Status begin(Session &session, uint32_t blocks);
  Status xor_part(Session &session, const BufferPlace &a, const BufferPlace &b, uint32_t blocks,
                  uint32_t times, const BufferPlace &to);
  Status draw(Session &session, int step, uint32_t round, const ByteLayer &from,
              const ByteLayer &to);
  Status draw_round(Session &session, uint32_t round, bool is_last, const ByteLayer &from,
                    const ByteLayer &to);

  const Settings settings_;
  std::map<int, GLuint> programs_;  // by step
  GLuint vertices_ = 0, xor_table_ = 0;
  GLuint tables_[4] = {};
  uint32_t rows_ = 0;  // of blocks, in the layers of this call
  ByteLayer linear_;   // four texels in a row, as buffers have them
  ByteLayer layers_[2], keys_;
};

}  // namespace lanecrypt::device::gl
