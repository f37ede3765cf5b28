// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/gl2007/fragment_kernels.h"

#include <algorithm>
#include <cstring>

#include "device/gl/program.h"
#include "kernels/block/ciphers.h"

// shaders/fragment.glsl and whole_screen.glsl with the files that they include
// (cmake/bundle_kernels.py).
extern "C" const char lanecrypt_gl_fragment[], lanecrypt_gl_whole_screen[];

namespace lanecrypt::bench::gl2007 {
namespace {

using device::gl::find_spot;
using device::gl::Stage;

// Named like the kernels of the form table1, so that the library uses them as such.
constexpr const char kExpandKeys[] = "aes_expand_keys";
constexpr const char kEcb[] = "aes_table1_ecb_encrypt";
constexpr const char kKeyPlanes[] = "key_planes";  // used only here

struct FragmentKernel {
  const char *name;
  const char *define;
};

constexpr FragmentKernel kFragmentKernels[] = {
    {kExpandKeys, "LC_EXPAND_KEYS"}, {kEcb, "LC_ECB"},           {"aes_table1_ctr", "LC_CTR"},
    {kXorBlocks, "LC_XOR_BLOCKS"},   {kTellPlaces, "LC_PLACES"}, {kKeyPlanes, "LC_KEY_PLANES"},
};

constexpr uint32_t kKeyBlocks = BLOCK_KEY_WORDS / 4, kScheduleBlocks = AES_SCHEDULE_WORDS / 4;

std::string defines_of(const std::string &name) {
  std::string all;
  for (const FragmentKernel &kernel : kFragmentKernels)
    all += std::string("#define ") + kernel.define + (name == kernel.name ? " 1\n" : " 0\n");
  return all + "#define ROW " + std::to_string(kRowBlocks) + "u\n#define KEY_TEXELS " +
         std::to_string(kKeyBlocks) + "u\n#define SCHEDULE_TEXELS " +
         std::to_string(kScheduleBlocks) + "u\n";
}

void set(const DrawingGl &gl, GLuint program, const char *name, uint32_t value) {
  gl.Uniform1ui(gl.GetUniformLocation(program, name), value);
}

void set(const DrawingGl &gl, GLuint program, const char *name, uint32_t unit,
         const BlockTexture &from) {
  gl.ActiveTexture(GL_TEXTURE0 + unit);
  gl.BindTexture(GL_TEXTURE_2D, from.name());
  gl.Uniform1i(gl.GetUniformLocation(program, name), static_cast<GLint>(unit));
}

// Returns argument `n` of the launch, or an error if it has another type.
template <typename Type>
Result<Type> argument(const Launch &launch, size_t n) {
  if (n < launch.arguments.size())
    if (const Type *value = std::get_if<Type>(&launch.arguments[n])) return *value;
  return Status(LC_ERROR_INTERNAL, std::string("the kernel ") + launch.kernel +
                                       " takes something else as argument " + std::to_string(n));
}

Result<Spot> spot_argument(Session &session, const Launch &launch, size_t n) {
  Result<const Buffer *> buffer = argument<const Buffer *>(launch, n);
  if (!buffer.ok()) return buffer.status();
  if (*buffer == nullptr) return Status(LC_ERROR_INTERNAL, "a shader takes no null pointer");
  return find_spot(session, **buffer, 0, (*buffer)->bytes());
}

// Reads the pieces back from the device, because the host divides them into passes.
Result<std::vector<CipherPiece>> read_pieces(Session &session, const Spot &spot, uint32_t count) {
  const DrawingGl &gl = drawing_gl();
  const uint64_t bytes = count * sizeof(CipherPiece);
  if (count == 0 || bytes > bytes_after(spot))
    return Status(LC_ERROR_INTERNAL, "a launch has no pieces, or more than their buffer holds");
  std::vector<CipherPiece> pieces(count);
  gl.BindBuffer(GL_COPY_READ_BUFFER, spot.allocation->name());
  const void *mapped = gl.MapBufferRange(GL_COPY_READ_BUFFER, static_cast<GLintptr>(spot.offset),
                                         static_cast<GLsizeiptr>(bytes), GL_MAP_READ_BIT);
  LC_TRY(session.check("reading the pieces of a launch"));
  if (mapped == nullptr) return Status(LC_ERROR_DEVICE, "OpenGL: glMapBufferRange gave nothing");
  memcpy(pieces.data(), mapped, bytes);
  if (!gl.UnmapBuffer(GL_COPY_READ_BUFFER))
    return Status(LC_ERROR_DEVICE, "OpenGL: the driver lost the pieces of a launch");
  return pieces;
}

}  // namespace

FragmentKernels::FragmentKernels(const Way &way, const device::gl::Limits &limits)
    : tells_places_(limits.multiprocessors != 0 && limits.is_desktop) {
  GLint side = 0;
  drawing_gl().GetIntegerv(GL_MAX_TEXTURE_SIZE, &side);
  texture_side_ = std::min(static_cast<uint32_t>(side), way.most_texture_side);
  rounds_ = make_rounds(way, texture_side_);
}

std::vector<std::string> FragmentKernels::names() const {
  std::vector<std::string> all;
  for (const FragmentKernel &kernel : kFragmentKernels) {
    const std::string_view name = kernel.name;
    if (name != kKeyPlanes && (name != kTellPlaces || tells_places_)) all.push_back(kernel.name);
  }
  return all;
}

Status FragmentKernels::launch(Session &session, const Launch &launch) {
  const std::string_view kernel = launch.kernel;
  if (kernel == kExpandKeys) return expand_keys(session, launch);
  if (kernel == kTellPlaces) return tell_places(session, launch);
  return kernel == kXorBlocks ? xor_blocks(session, launch) : run_mode(session, launch);
}

Result<GLuint> FragmentKernels::use_program(Session &session, const std::string &name) {
  const DrawingGl &gl = drawing_gl();
  GLuint &program = programs_[name];
  if (program == 0) {
    const Stage stages[] = {{GL_VERTEX_SHADER, "", lanecrypt_gl_whole_screen},
                            {GL_FRAGMENT_SHADER, defines_of(name), lanecrypt_gl_fragment}};
    const std::string version =
        name == kTellPlaces ? "#version 430 core\n#extension GL_NV_shader_thread_group : require\n"
                            : device::gl::version_line(session.context->limits(), 310, 430);
    Result<GLuint> linked = device::gl::link_program(session, name, version, stages);
    if (!linked.ok()) return linked.status();
    program = *linked;
  }
  if (vertices_ == 0) gl.GenVertexArrays(1, &vertices_);
  gl.BindVertexArray(vertices_);
  gl.UseProgram(program);
  return program;
}

Status FragmentKernels::expand_keys(Session &session, const Launch &launch) {
  auto keys = spot_argument(session, launch, 0), schedules = spot_argument(session, launch, 1);
  auto count = argument<uint32_t>(launch, 2), key_words = argument<uint32_t>(launch, 3);
  for (const Status &status :
       {keys.status(), schedules.status(), count.status(), key_words.status()})
    LC_TRY(status);
  const uint64_t bytes = uint64_t{*count} * AES_SCHEDULE_WORDS * 4;
  if (uint64_t{*count} * BLOCK_KEY_WORDS * 4 > bytes_after(*keys) ||
      bytes > bytes_after(*schedules))
    return {LC_ERROR_INTERNAL, "a launch has more keys than their buffer holds"};
  const uint32_t key_blocks = *count * kKeyBlocks, blocks = *count * kScheduleBlocks;
  const DrawingGl &gl = drawing_gl();
  auto program = use_program(session, launch.kernel);
  if (!program.ok()) return program.status();
  LC_TRY(keys_.reserve(session, key_blocks));
  LC_TRY(round_keys_.begin(session, 1, blocks));
  gl.ActiveTexture(GL_TEXTURE0);
  keys_.fill(keys->allocation->name(), keys->offset, key_blocks);
  set(gl, *program, "keys", 0, keys_);
  set(gl, *program, "key_words", *key_words);
  gl.DrawArrays(GL_TRIANGLES, 0, 3);
  round_keys_.read(0, blocks, schedules->allocation->name(), schedules->offset);
  return session.check(launch.kernel);
}

// Converts the round keys to the bit planes that gates.glsl uses.
Status FragmentKernels::make_key_planes(Session &session, uint32_t blocks) {
  auto program = use_program(session, kKeyPlanes);
  if (!program.ok()) return program.status();
  const DrawingGl &gl = drawing_gl();
  LC_TRY(key_planes_.begin(session, 1, blocks));
  set(gl, *program, "keys", 0, schedules_);
  gl.DrawArrays(GL_TRIANGLES, 0, 3);
  return Status();
}

Status FragmentKernels::draw(Session &session, const std::string &kernel, const Pass &pass,
                             uint32_t rounds, const BufferPlace &from, const BufferPlace &to) {
  auto program = use_program(session, kernel);
  if (!program.ok()) return program.status();
  const DrawingGl &gl = drawing_gl();
  static_assert(sizeof(PassPiece) == 2 * 16);
  const auto pieces = static_cast<uint32_t>(pass.pieces.size());
  const uint32_t half = (pass.blocks + 1) / 2;
  gl.ActiveTexture(GL_TEXTURE0);
  LC_TRY(blocks_.reserve(session, pass.blocks));
  blocks_.fill(from.buffer, from.offset, pass.blocks);
  LC_TRY(pieces_.reserve(session, 2 * pieces));
  pieces_.fill(pass.pieces.data(), 2 * pieces);
  LC_TRY(results_.begin(session, 2, half));
  set(gl, *program, "pieces", 0, pieces_);
  set(gl, *program, "schedules", 1, key_planes_.texture(0));
  set(gl, *program, "blocks_in", 2, blocks_);
  set(gl, *program, "count", pieces);
  set(gl, *program, "blocks", pass.blocks);
  set(gl, *program, "half_blocks", half);
  set(gl, *program, "rounds", rounds);
  gl.DrawArrays(GL_TRIANGLES, 0, 3);
  results_.read(0, half, to.buffer, to.offset);
  results_.read(1, pass.blocks - half, to.buffer, to.offset + uint64_t{half} * 16);
  return Status();
}

Status FragmentKernels::run_mode(Session &session, const Launch &launch) {
  auto piece_spot = spot_argument(session, launch, 0), keys = spot_argument(session, launch, 3),
       in = spot_argument(session, launch, 5), out = spot_argument(session, launch, 6);
  auto count = argument<uint32_t>(launch, 1), rounds = argument<uint32_t>(launch, 4);
  for (const Status &status : {piece_spot.status(), keys.status(), in.status(), out.status(),
                               count.status(), rounds.status()})
    LC_TRY(status);
  auto pieces = read_pieces(session, *piece_spot, *count);
  if (!pieces.ok()) return pieces.status();
  uint32_t last_key = 0;
  for (const CipherPiece &piece : *pieces) last_key = std::max(last_key, piece.key);
  const uint64_t key_blocks = (uint64_t{last_key} + 1) * kScheduleBlocks;
  if (key_blocks * 16 > bytes_after(*keys))
    return {LC_ERROR_INTERNAL, "a launch has more keys than their buffer holds"};
  const auto schedule_blocks = static_cast<uint32_t>(key_blocks);
  const std::string kernel = launch.kernel;
  const bool round_by_round = rounds_ != nullptr && kernel == kEcb;
  LC_TRY(schedules_.reserve(session, schedule_blocks));
  schedules_.fill(keys->allocation->name(), keys->offset, schedule_blocks);
  Status status;
  if (!round_by_round) status = make_key_planes(session, schedule_blocks);
  PiecePasses passes(*pieces,
                     round_by_round ? rounds_->most_blocks() : most_texture_blocks(texture_side_),
                     round_by_round);
  Pass pass;
  while (status.ok() && passes.next(pass)) {
    auto from = memory_.gather(session, pass, *in), to = memory_.place_results(session, pass, *out);
    status = !from.ok() ? from.status() : to.status();
    if (!status.ok()) break;
    const uint64_t key = uint64_t{pass.pieces.front().key} * AES_SCHEDULE_WORDS * 4;
    status = round_by_round
                 ? rounds_->encrypt(session, *from, {keys->allocation->name(), keys->offset + key},
                                    *rounds, pass.blocks, *to)
                 : draw(session, kernel, pass, *rounds, *from, *to);
    if (status.ok()) memory_.scatter(pass, *out);
  }
  LC_TRY(status);
  return session.check(launch.kernel);
}

Status FragmentKernels::xor_blocks(Session &session, const Launch &launch) {
  auto a = spot_argument(session, launch, 0), b = spot_argument(session, launch, 1),
       out = spot_argument(session, launch, 2);
  auto blocks = argument<uint32_t>(launch, 3), times = argument<uint32_t>(launch, 4);
  for (const Status &status :
       {a.status(), b.status(), out.status(), blocks.status(), times.status()})
    LC_TRY(status);
  if (uint64_t{*blocks} * 16 > std::min({bytes_after(*a), bytes_after(*b), bytes_after(*out)}))
    return {LC_ERROR_INTERNAL, "a launch has more blocks than its buffers hold"};
  const GLuint first = a->allocation->name(), second = b->allocation->name(),
               result = out->allocation->name();
  if (rounds_ != nullptr)
    return rounds_->xor_blocks(session, {first, a->offset}, {second, b->offset}, *blocks, *times,
                               {result, out->offset});
  auto program = use_program(session, launch.kernel);
  if (!program.ok()) return program.status();
  const DrawingGl &gl = drawing_gl();
  const uint64_t most = most_texture_blocks(texture_side_);
  for (uint64_t done = 0; done < *blocks; done += most) {
    const uint64_t offset = 16 * done;
    const auto part = static_cast<uint32_t>(std::min(most, *blocks - done));
    gl.ActiveTexture(GL_TEXTURE0);
    LC_TRY(blocks_.reserve(session, part));
    blocks_.fill(first, a->offset + offset, part);
    LC_TRY(others_.reserve(session, part));
    others_.fill(second, b->offset + offset, part);
    LC_TRY(results_.begin(session, 1, part));
    set(gl, *program, "blocks_in", 0, blocks_);
    set(gl, *program, "others_in", 1, others_);
    for (uint32_t n = 0; n < *times; ++n) gl.DrawArrays(GL_TRIANGLES, 0, 3);
    results_.read(0, part, result, out->offset + offset);
  }
  return session.check(launch.kernel);
}

Status FragmentKernels::tell_places(Session &session, const Launch &launch) {
  auto out = spot_argument(session, launch, 0);
  auto blocks = argument<uint32_t>(launch, 1);
  for (const Status &status : {out.status(), blocks.status()}) LC_TRY(status);
  if (uint64_t{*blocks} * 16 > bytes_after(*out))
    return {LC_ERROR_INTERNAL, "a launch has more blocks than its buffer holds"};
  auto program = use_program(session, launch.kernel);
  if (!program.ok()) return program.status();
  LC_TRY(results_.begin(session, 1, *blocks));
  drawing_gl().DrawArrays(GL_TRIANGLES, 0, 3);
  results_.read(0, *blocks, out->allocation->name(), out->offset);
  return session.check(launch.kernel);
}

}  // namespace lanecrypt::bench::gl2007
