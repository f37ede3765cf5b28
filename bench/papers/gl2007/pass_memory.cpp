// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/gl2007/pass_memory.h"

#include <algorithm>
#include <span>

namespace lanecrypt::bench::gl2007 {
namespace {

// OpenGL transfers pixels in 32-bit words, so offsets in buffers must be multiples of this.
constexpr uint32_t kTransferAlignment = 4;

void copy_runs(GLuint from, uint64_t from_offset, GLuint to, uint64_t to_offset,
               std::span<const Run> runs) {
  const DrawingGl &gl = drawing_gl();
  gl.BindBuffer(GL_COPY_READ_BUFFER, from);
  gl.BindBuffer(GL_COPY_WRITE_BUFFER, to);
  for (const Run &run : runs)
    gl.CopyBufferSubData(
        GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, static_cast<GLintptr>(from_offset + run.from),
        static_cast<GLintptr>(to_offset + run.to), static_cast<GLsizeiptr>(run.bytes));
}

}  // namespace

uint64_t bytes_after(const Spot &spot) { return spot.allocation->object_bytes() - spot.offset; }

Status PassMemory::Growing::reserve(Session &session, uint64_t wanted) {
  if (wanted <= bytes) return Status();
  const DrawingGl &gl = drawing_gl();
  if (name == 0) gl.GenBuffers(1, &name);
  gl.BindBuffer(GL_COPY_WRITE_BUFFER, name);
  gl.BufferData(GL_COPY_WRITE_BUFFER, static_cast<GLsizeiptr>(wanted), nullptr, GL_DYNAMIC_COPY);
  bytes = 0;
  LC_TRY(session.check("glBufferData"));
  bytes = wanted;
  return Status();
}

Result<BufferPlace> PassMemory::gather(Session &session, const Pass &pass, const Spot &in) {
  const Run &first = pass.gather.front();
  const uint64_t offset = in.offset + first.from;
  if (pass.gather.size() == 1 && offset % kTransferAlignment == 0 &&
      first.from + uint64_t{pass.blocks} * 16 <= bytes_after(in))
    return BufferPlace{in.allocation->name(), offset};
  LC_TRY(gathered_.reserve(session, uint64_t{pass.blocks} * 16));
  copy_runs(in.allocation->name(), in.offset, gathered_.name, 0, pass.gather);
  return BufferPlace{gathered_.name, 0};
}

Result<BufferPlace> PassMemory::place_results(Session &session, const Pass &pass, const Spot &out) {
  const Run &first = pass.scatter.front();
  const uint64_t offset = out.offset + first.to;
  is_placed_ = pass.scatter.size() == 1 && offset % kTransferAlignment == 0 &&
               first.bytes == uint64_t{pass.blocks} * 16;
  if (is_placed_) return BufferPlace{out.allocation->name(), offset};
  LC_TRY(computed_.reserve(session, uint64_t{pass.blocks} * 16));
  return BufferPlace{computed_.name, 0};
}

void PassMemory::scatter(const Pass &pass, const Spot &out) {
  if (is_placed_) return;
  copy_runs(computed_.name, 0, out.allocation->name(), out.offset, pass.scatter);
}

}  // namespace lanecrypt::bench::gl2007
