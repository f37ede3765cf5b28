// SPDX-License-Identifier: Apache-2.0
#include "device/gl/compute_kernels.h"

#include <algorithm>
#include <cstddef>

#include "device/gl/memory.h"
#include "device/gl/program.h"
#include "job/round_up.h"
#include "kernels/block/ciphers.h"
#include "kernels/block/layout.h"

// shaders/compute.glsl with the files that it includes (cmake/bundle_kernels.py).
extern "C" const char lanecrypt_gl_compute[];

namespace lanecrypt::device::gl {
namespace {

// `parameters` is the signature of the kernel in kernels/: b a buffer, u 32 bits, l 64 bits.
// Buffers are bound in this order from binding 0 on; numbers are the uniforms from location 0 on.
struct ComputeKernel {
  const char *name;
  const char *define;
  const char *parameters;
  uint32_t most_threads;
};

constexpr const char *kTiles = "bulbubb", *kChains = "bubbubb";

// The most that one dispatch processes, see shaders/compute.glsl. A tile takes at most 32 times 15
// rounds and a search; a block of a chain takes at most 16 rounds.
constexpr uint64_t kMostWarpTiles = 96;
constexpr uint64_t kMostChainBytes = 2048 * 16;
constexpr ComputeKernel kComputeKernels[] = {
    {"aes_expand_keys", "LC_EXPAND_KEYS", "bbuuu", BLOCK_KEY_THREADS},
    {"aes_table1_ecb_encrypt", "LC_ECB_ENCRYPT", kTiles, BLOCK_TABLE1_THREADS},
    {"aes_table1_ecb_decrypt", "LC_ECB_DECRYPT", kTiles, BLOCK_TABLE1_THREADS},
    {"aes_table1_cbc_encrypt", "LC_CBC_ENCRYPT", kChains, BLOCK_TABLE1_THREADS},
    {"aes_table1_cbc_decrypt", "LC_CBC_DECRYPT", kTiles, BLOCK_TABLE1_THREADS},
    {"aes_table1_ctr", "LC_CTR", "bulbubbu", BLOCK_TABLE1_THREADS},
};

uint32_t count_buffers(const ComputeKernel &kernel) {
  const std::string parameters = kernel.parameters;
  return static_cast<uint32_t>(std::count(parameters.begin(), parameters.end(), 'b'));
}

const ComputeKernel *find_kernel(const char *name) {
  for (const ComputeKernel &kernel : kComputeKernels)
    if (std::string_view(kernel.name) == name) return &kernel;
  return nullptr;
}

// Returns the threads per thread block: as many as the kernel names or, if fewer, as the device
// supports.
uint32_t threads_of(const Limits &limits, const ComputeKernel &kernel) {
  return std::min(kernel.most_threads, limits.max_thread_block_size / 32 * 32);
}

std::string define(const char *name, uint64_t value, const char *suffix = "u") {
  return std::string("#define ") + name + " " + std::to_string(value) + suffix + "\n";
}

std::string defines_of(const Limits &limits, const ComputeKernel &kernel) {
  std::string all;
  for (const ComputeKernel &each : kComputeKernels)
    all += define(each.define, &each == &kernel ? 1 : 0, "");
  all += define("LC_THREADS", threads_of(limits, kernel), "");
  all += define("BLOCK_KEY_WORDS", BLOCK_KEY_WORDS);
  all += define("AES_SCHEDULE_WORDS", AES_SCHEDULE_WORDS);
  all += define("PIECE_WORDS", sizeof(CipherPiece) / 4);
  const auto field = [&](const char *name, size_t offset) { all += define(name, offset / 4); };
  field("PIECE_IN", offsetof(CipherPiece, in));
  field("PIECE_OUT", offsetof(CipherPiece, out));
  field("PIECE_LENGTH", offsetof(CipherPiece, length));
  field("PIECE_FIRST_TILE", offsetof(CipherPiece, first_tile));
  field("PIECE_KEY", offsetof(CipherPiece, key));
  field("PIECE_CHAIN", offsetof(CipherPiece, chain));
  field("PIECE_CONTINUES", offsetof(CipherPiece, continues));
  field("PIECE_IV", offsetof(CipherPiece, iv));
  return all;
}

Status bind_buffer(Session &session, GLuint binding, const Buffer *buffer) {
  if (buffer == nullptr) return {LC_ERROR_INTERNAL, "a shader takes no null pointer"};
  auto spot = find_spot(session, *buffer, 0, buffer->bytes());
  if (!spot.ok()) return spot.status();
  const uint32_t alignment = session.context->limits().storage_alignment;
  if (spot->offset % alignment != 0)
    return {LC_ERROR_UNSUPPORTED, session.properties.id + " takes memory as a kernel's argument " +
                                      "only at multiples of " + std::to_string(alignment) +
                                      " bytes, not at " + std::to_string(spot->offset)};
  session.context->gl().BindBufferRange(
      GL_SHADER_STORAGE_BUFFER, binding, spot->allocation->name(),
      static_cast<GLintptr>(spot->offset),
      static_cast<GLsizeiptr>(spot->allocation->object_bytes() - spot->offset));
  return Status();
}

}  // namespace

bool ComputeKernels::can_run(const Limits &limits) {
  return limits.shared_bytes >= BLOCK_TABLE1_SHARED_WORDS * 4 &&
         limits.max_thread_block_size >= 32 && limits.storage_blocks >= 4;
}

std::vector<std::string> ComputeKernels::names() const {
  std::vector<std::string> all;
  for (const ComputeKernel &kernel : kComputeKernels)
    if (count_buffers(kernel) <= limits_.storage_blocks) all.push_back(kernel.name);
  return all;
}

Status ComputeKernels::launch(Session &session, const Launch &launch) {
  const ComputeKernel &kernel = *find_kernel(launch.kernel);
  const std::string parameters = kernel.parameters;
  if (launch.arguments.size() != parameters.size())
    return {LC_ERROR_INTERNAL, std::string("the kernel ") + launch.kernel + " takes " +
                                   std::to_string(parameters.size()) + " arguments, not " +
                                   std::to_string(launch.arguments.size())};
  if (launch.thread_block_size != threads_of(limits_, kernel) || launch.thread_blocks == 0 ||
      launch.thread_blocks > limits_.max_thread_blocks)
    return {LC_ERROR_DEVICE, std::string("the kernel ") + launch.kernel + " runs in 1 to " +
                                 std::to_string(limits_.max_thread_blocks) + " thread blocks of " +
                                 std::to_string(threads_of(limits_, kernel)) + " threads on " +
                                 session.properties.id};
  const Gl &gl = session.context->gl();
  GLuint &program = programs_[launch.kernel];
  if (program == 0) {
    const Stage stage = {GL_COMPUTE_SHADER, defines_of(limits_, kernel), lanecrypt_gl_compute};
    Result<GLuint> linked =
        link_program(session, launch.kernel, version_line(limits_, 310, 430), {&stage, 1});
    if (!linked.ok()) return linked.status();
    program = *linked;
  }
  gl.UseProgram(program);
  GLuint binding = 0;
  GLint location = 0, range = -1;
  uint64_t end = 0, most = 0;
  uint32_t thread_blocks = launch.thread_blocks;
  for (size_t n = 0; n < parameters.size(); ++n) {
    const Argument &argument = launch.arguments[n];
    if (const auto *buffer = std::get_if<const Buffer *>(&argument)) {
      LC_TRY(bind_buffer(session, binding++, *buffer));
    } else if (const auto *word = std::get_if<uint32_t>(&argument)) {
      gl.Uniform1ui(location++, *word);
    } else {
      // The number of tiles, which takes two uniforms: the first tile and the end.
      range = location;
      location += 2;
      end = std::get<uint64_t>(argument);
      most = kMostWarpTiles * launch.thread_blocks * (launch.thread_block_size / 32);
    }
  }
  if (parameters == kChains) {
    range = location;
    end = launch.longest_bytes;
    most = kMostChainBytes;
    // No thread may get two chains.
    const uint32_t count = std::get<uint32_t>(launch.arguments[1]);
    thread_blocks = count_up(count, launch.thread_block_size);
  }
  if (end > UINT32_MAX)
    return {LC_ERROR_INTERNAL, std::string("too much at once for ") + launch.kernel};
  uint64_t first = 0;
  do {
    if (range >= 0) {
      gl.Uniform1ui(range, static_cast<GLuint>(first));
      gl.Uniform1ui(range + 1, static_cast<GLuint>(std::min(end, first + most)));
    }
    gl.DispatchCompute(thread_blocks, 1, 1);
    gl.MemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT |
                     GL_PIXEL_BUFFER_BARRIER_BIT);
    first += most;
  } while (first < end);
  return session.check(launch.kernel);
}

void ComputeKernels::close(Session &session) {
  for (const auto &[name, program] : programs_) session.context->gl().DeleteProgram(program);
  programs_.clear();
}

}  // namespace lanecrypt::device::gl
