// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/gl2007/rounds.h"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "device/gl/program.h"
#include "kernels/aes/aes_word.h"
#include "kernels/block/ciphers.h"
#include "kernels/block/layout.h"

extern "C" const char lanecrypt_gl_round[], lanecrypt_gl_whole_screen[];

namespace lanecrypt::bench::gl2007 {
namespace {

using device::gl::Stage;

// LC_STEP of shaders/round.glsl.
enum Step {
  kFirst,
  kMiddle,
  kLast,
  kSpread,
  kCollect,
  kKey,
  kState,
  kTerm,
  kSubstitute = kTerm + 4,
  kPair
};

constexpr uint32_t kRowBlocks = 256, kScheduleTexels = AES_SCHEDULE_WORDS;
// Texture units. The state is at units 0 to 3.
constexpr uint32_t kKeyUnit = 4, kXorUnit = 5, kTableUnit = 6;

// Constants of desktop OpenGL, which the headers of OpenGL ES do not define.
constexpr GLenum kColorLogicOp = 0x0BF2, kLogicXor = 0x1506;

int xor_of(const Way &way) {
  switch (way.xor_by) {
    case Xor::kTable8:
      return 8;
    case Xor::kTable4:
      return 4;
    default:
      return 0;
  }
}

std::string define(const char *name, int value) {
  return std::string("#define ") + name + " " + std::to_string(value) + "\n";
}

// Returns the table for byte `row` of a column: what S(x) contributes to the column's four bytes
// in MixColumns (FIPS 197, section 5.1.3).
std::vector<uint8_t> round_table(uint32_t row) {
  static constexpr uint8_t kFactors[4] = {2, 1, 1, 3};
  std::vector<uint8_t> table(256 * 4);
  for (uint32_t x = 0; x < 256; ++x) {
    const uint32_t s = aes_sub_word(x) & 0xff, s2 = aes_times_x(s);
    for (uint32_t i = 0; i < 4; ++i) {
      const uint8_t factor = kFactors[(i + 4 - row) % 4];
      table[4 * x + i] = static_cast<uint8_t>(factor == 1 ? s : factor == 2 ? s2 : s2 ^ s);
    }
  }
  return table;
}

// Runs one draw per round or part of a round, between two layers in turn.
class DrawnRounds : public Rounds {
 public:
  DrawnRounds(const Way &way, uint32_t texture_side) : way_(way), texture_side_(texture_side) {}
  uint64_t most_blocks() const override;
  Status encrypt(Session &session, const BufferPlace &from, const BufferPlace &keys,
                 uint32_t rounds, uint32_t blocks, const BufferPlace &to) override;
  Status xor_blocks(Session &session, const BufferPlace &a, const BufferPlace &b, uint32_t blocks,
                    uint32_t times, const BufferPlace &to) override;

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

  const Way way_;
  const uint32_t texture_side_;
  std::map<int, GLuint> programs_;  // by step
  GLuint vertices_ = 0, xor_table_ = 0;
  GLuint tables_[4] = {};
  uint32_t rows_ = 0;  // rows of blocks in the layers of the current call
  ByteLayer linear_;   // four texels in a row, as in buffers
  ByteLayer layers_[2], keys_;
};

Status DrawnRounds::make_tables(Session &session) {
  if (vertices_ != 0) return Status();
  const DrawingGl &gl = drawing_gl();
  if (way_.xor_by == Xor::kRaster &&
      (gl.LogicOp == nullptr || !session.context->limits().is_desktop))
    return {LC_ERROR_UNSUPPORTED,
            "XOR by raster units needs desktop OpenGL: OpenGL ES has no logic operation"};
  gl.GenVertexArrays(1, &vertices_);
  gl.ActiveTexture(GL_TEXTURE0);
  for (uint32_t row = 0; row < 4; ++row)
    tables_[row] = make_table(GL_RGBA8, 256, 1, round_table(row).data());
  if (way_.xor_by == Xor::kTable8) {
    std::vector<uint8_t> bytes(256 * 256);
    for (uint32_t n = 0; n < bytes.size(); ++n) bytes[n] = static_cast<uint8_t>((n >> 8) ^ n);
    xor_table_ = make_table(GL_R8, 256, 256, bytes.data());
  } else if (way_.xor_by == Xor::kTable4) {
    std::vector<uint8_t> nibbles(16 * 16 * 2);
    for (uint32_t n = 0; n < 256; ++n) {
      nibbles[2 * n] = static_cast<uint8_t>((n >> 4) ^ (n & 15));
      nibbles[2 * n + 1] = static_cast<uint8_t>(nibbles[2 * n] << 4);
    }
    xor_table_ = make_table(GL_RG8, 16, 16, nibbles.data());
  }
  return session.check("making tables");
}

Result<GLuint> DrawnRounds::use_program(Session &session, int step) {
  const DrawingGl &gl = drawing_gl();
  GLuint &program = programs_[step];
  if (program == 0) {
    const std::string defines = define("LC_STEP", step) + define("LC_XOR", xor_of(way_)) +
                                define("LC_GATHER", step == kPair ? static_cast<int>(Gather::kRow)
                                                                  : static_cast<int>(way_.gather)) +
                                define("LC_ROTATES", way_.rotates ? 1 : 0);
    const Stage stages[] = {{GL_VERTEX_SHADER, "", lanecrypt_gl_whole_screen},
                            {GL_FRAGMENT_SHADER, defines, lanecrypt_gl_round}};
    Result<GLuint> linked = device::gl::link_program(
        session, "round.glsl, step " + std::to_string(step),
        device::gl::version_line(session.context->limits(), 310, 430), stages);
    if (!linked.ok()) return linked.status();
    program = *linked;
    gl.UseProgram(program);
    const auto unit = [&](const std::string &name, uint32_t number) {
      gl.Uniform1i(gl.GetUniformLocation(program, name.c_str()), static_cast<GLint>(number));
    };
    for (uint32_t n = 0; n < 4; ++n) {
      unit("state" + std::to_string(n), n);
      unit("table" + std::to_string(n), kTableUnit + n);
    }
    unit("round_keys", kKeyUnit);
    unit("xor_table", kXorUnit);
  }
  gl.UseProgram(program);
  return program;
}

Status DrawnRounds::draw(Session &session, int step, uint32_t round, const ByteLayer &from,
                         const ByteLayer &to) {
  auto program = use_program(session, step);
  if (!program.ok()) return program.status();
  const DrawingGl &gl = drawing_gl();
  gl.Uniform2f(gl.GetUniformLocation(*program, "texel"), 1.0f / static_cast<float>(from.width()),
               1.0f / static_cast<float>(from.height()));
  gl.Uniform1f(gl.GetUniformLocation(*program, "first_key"), static_cast<float>(4 * round));
  from.bind();
  const bool is_square = &to != &linear_ && way_.gather == Gather::kSquare;
  to.aim(is_square ? 2 * rows_ : rows_);
  gl.DrawArrays(GL_TRIANGLES, 0, 3);
  return Status();
}

Status DrawnRounds::begin(Session &session, uint32_t blocks) {
  const DrawingGl &gl = drawing_gl();
  LC_TRY(make_tables(session));
  gl.BindVertexArray(vertices_);
  gl.Disable(GL_DITHER);
  rows_ = (blocks + kRowBlocks - 1) / kRowBlocks;
  return Status();
}

Status DrawnRounds::draw_round(Session &session, uint32_t round, bool is_last,
                               const ByteLayer &from, const ByteLayer &to) {
  if (way_.xor_by != Xor::kRaster)
    return draw(session, round == 0 ? kFirst : is_last ? kLast : kMiddle, round, from, to);
  const DrawingGl &gl = drawing_gl();
  LC_TRY(draw(session, kKey, round, from, to));
  gl.Enable(kColorLogicOp);
  gl.LogicOp(kLogicXor);
  Status status;
  if (round == 0) {
    status = draw(session, kState, round, from, to);
  } else if (is_last) {
    status = draw(session, kSubstitute, round, from, to);
  } else {
    for (int row = 0; row < 4 && status.ok(); ++row)
      status = draw(session, kTerm + row, round, from, to);
  }
  gl.Disable(kColorLogicOp);
  return status;
}

uint64_t DrawnRounds::most_blocks() const {
  const uint64_t rows =
      std::bit_floor(texture_side_);  // ByteLayer rounds rows up to a power of two
  return kRowBlocks * (way_.gather == Gather::kSquare ? rows / 2 : rows);
}

Status DrawnRounds::encrypt(Session &session, const BufferPlace &from, const BufferPlace &keys,
                            uint32_t rounds, uint32_t blocks, const BufferPlace &to) {
  const DrawingGl &gl = drawing_gl();
  LC_TRY(begin(session, blocks));
  const bool multi = way_.gather == Gather::kMulti, row = way_.gather == Gather::kRow;
  LC_TRY(keys_.reserve(session, 1, kScheduleTexels, 1));
  for (ByteLayer &layer : layers_)
    LC_TRY(layer.reserve(session, multi ? 4 : 1,
                         kRowBlocks * (multi ? 1
                                       : row ? 4
                                             : 2),
                         multi || row ? rows_ : 2 * rows_));
  if (!row) LC_TRY(linear_.reserve(session, 1, kRowBlocks * 4, rows_));
  keys_.fill(keys, kScheduleTexels);
  ByteLayer &ends = row ? layers_[0] : linear_;
  ends.fill(from, 4 * blocks);
  const auto bind = [&](uint32_t unit, GLuint texture) {
    gl.ActiveTexture(GL_TEXTURE0 + unit);
    gl.BindTexture(GL_TEXTURE_2D, texture);
  };
  bind(kKeyUnit, keys_.first());
  bind(kXorUnit, xor_table_);
  for (uint32_t n = 0; n < 4; ++n) bind(kTableUnit + n, tables_[n]);

  if (!row) LC_TRY(draw(session, kSpread, 0, linear_, layers_[0]));
  for (uint32_t round = 0; round <= rounds; ++round)
    LC_TRY(draw_round(session, round, round == rounds, layers_[round % 2], layers_[1 - round % 2]));
  ByteLayer &last = layers_[(rounds + 1) % 2];
  if (!row) LC_TRY(draw(session, kCollect, 0, last, linear_));
  (row ? last : linear_).read(to, 4 * blocks);
  return session.check("encrypting round by round");
}

Status DrawnRounds::xor_blocks(Session &session, const BufferPlace &a, const BufferPlace &b,
                               uint32_t blocks, uint32_t times, const BufferPlace &to) {
  const uint64_t most = uint64_t{kRowBlocks} * std::bit_floor(texture_side_);
  for (uint64_t done = 0; done < blocks; done += most) {
    const uint64_t offset = 16 * done;
    LC_TRY(xor_part(session, {a.buffer, a.offset + offset}, {b.buffer, b.offset + offset},
                    static_cast<uint32_t>(std::min(most, blocks - done)), times,
                    {to.buffer, to.offset + offset}));
  }
  return Status();
}

Status DrawnRounds::xor_part(Session &session, const BufferPlace &a, const BufferPlace &b,
                             uint32_t blocks, uint32_t times, const BufferPlace &to) {
  const DrawingGl &gl = drawing_gl();
  LC_TRY(begin(session, blocks));
  for (ByteLayer *layer : {&layers_[0], &layers_[1], &linear_})
    LC_TRY(layer->reserve(session, 1, kRowBlocks * 4, rows_));
  layers_[0].fill(a, 4 * blocks);
  layers_[1].fill(b, 4 * blocks);
  const bool is_raster = way_.xor_by == Xor::kRaster;
  if (is_raster) linear_.fill(a, 4 * blocks);
  auto program = use_program(session, kPair);
  if (!program.ok()) return program.status();
  // The layer that is written may have more rows than the two that are read.
  gl.Uniform2f(gl.GetUniformLocation(*program, "texel"),
               1.0f / static_cast<float>(layers_[0].width()),
               1.0f / static_cast<float>(layers_[0].height()));
  const GLuint textures[] = {layers_[0].first(), layers_[1].first(), xor_table_};
  const uint32_t units[] = {0, 1, kXorUnit};
  for (int n = 0; n < 3; ++n) {
    gl.ActiveTexture(GL_TEXTURE0 + units[n]);
    gl.BindTexture(GL_TEXTURE_2D, textures[n]);
  }
  linear_.aim(rows_);
  if (is_raster) {
    gl.Enable(kColorLogicOp);
    gl.LogicOp(kLogicXor);
  }
  for (uint32_t n = 0; n < times; ++n) gl.DrawArrays(GL_TRIANGLES, 0, 3);
  if (is_raster) gl.Disable(kColorLogicOp);
  linear_.read(to, 4 * blocks);
  return session.check("XORing");
}

}  // namespace

std::unique_ptr<Rounds> make_rounds(const Way &way, uint32_t texture_side) {
  if (way.xor_by == Xor::kInteger) return nullptr;
  return std::make_unique<DrawnRounds>(way, texture_side);
}

}  // namespace lanecrypt::bench::gl2007
