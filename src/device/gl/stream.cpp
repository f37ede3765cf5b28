// SPDX-License-Identifier: Apache-2.0
#include "device/gl/stream.h"

#include <string.h>

#include <algorithm>

namespace lanecrypt::device::gl {
namespace {

struct PinnedSpot {
  GLuint name = 0;  // 0: not mapped memory of this session
  uint64_t offset = 0;
};

PinnedSpot find_pinned(Session &session, const void *memory, uint64_t bytes) {
  const uint64_t address = reinterpret_cast<uint64_t>(memory);
  std::lock_guard lock(session.mutex);
  auto at = session.pinned.upper_bound(address);
  if (at == session.pinned.begin()) return {};
  --at;
  const uint64_t offset = address - at->first;
  if (offset >= at->second.bytes || bytes > at->second.bytes - offset) return {};
  return {at->second.name, at->second.offset + offset};
}

GLintptr at(uint64_t offset) { return static_cast<GLintptr>(offset); }
GLsizeiptr size(uint64_t bytes) { return static_cast<GLsizeiptr>(bytes); }

void copy_object(const Gl &gl, GLuint to, uint64_t to_offset, GLuint from, uint64_t from_offset,
                 uint64_t bytes) {
  gl.BindBuffer(GL_COPY_READ_BUFFER, from);
  gl.BindBuffer(GL_COPY_WRITE_BUFFER, to);
  gl.CopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, at(from_offset), at(to_offset),
                       size(bytes));
}

}  // namespace

// ---- Events ----------------------------------------------------------------

FenceEvent::~FenceEvent() {
  if (session_->context == nullptr || !session_->enter().ok()) return;
  const Gl &gl = session_->context->gl();
  if (fence_ != nullptr) gl.DeleteSync(fence_);
  if (query_ != 0) gl.DeleteQueriesEXT(1, &query_);
}

Status FenceEvent::record() {
  const Gl &gl = session_->context->gl();
  if (session_->context->limits().tells_time) {
    if (query_ == 0) gl.GenQueriesEXT(1, &query_);
    gl.QueryCounterEXT(query_, GL_TIMESTAMP_EXT);
  }
  if (fence_ != nullptr) gl.DeleteSync(fence_);
  fence_ = gl.FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  gl.Flush();
  return session_->check("glFenceSync");
}

Status FenceEvent::wait() {
  if (fence_ == nullptr) return Status();
  LC_TRY(session_->enter());
  const Gl &gl = session_->context->gl();
  constexpr GLuint64 kSecond = 1'000'000'000;
  while (true) {
    const GLenum result = gl.ClientWaitSync(fence_, GL_SYNC_FLUSH_COMMANDS_BIT, kSecond);
    LC_TRY(session_->check("waiting for the device"));
    if (result == GL_WAIT_FAILED) return {LC_ERROR_DEVICE, "OpenGL: waiting for the device failed"};
    if (result != GL_TIMEOUT_EXPIRED) return Status();
  }
}

bool FenceEvent::reached() {
  if (fence_ == nullptr || !session_->enter().ok()) return true;
  const GLenum result = session_->context->gl().ClientWaitSync(fence_, 0, 0);
  return result != GL_TIMEOUT_EXPIRED;
}

uint64_t FenceEvent::time() {
  if (query_ == 0 || !session_->enter().ok()) return 0;
  GLuint64 nanoseconds = 0;
  session_->context->gl().GetQueryObjectui64vEXT(query_, GL_QUERY_RESULT_EXT, &nanoseconds);
  return nanoseconds;
}

uint64_t FenceEvent::nanoseconds_since(Event &earlier) {
  auto *start = dynamic_cast<FenceEvent *>(&earlier);
  if (start == nullptr) return 0;
  const uint64_t from = start->time(), to = time();
  return from != 0 && to > from ? to - from : 0;
}

// ---- Streams ---------------------------------------------------------------

ContextStream::~ContextStream() {
  // A command may name host memory that the caller frees once this returns.
  if (session_->context != nullptr && session_->enter().ok()) session_->context->gl().Finish();
}

Status ContextStream::upload(const Buffer &to, uint64_t offset, const void *from, uint64_t bytes) {
  auto spot = find_spot(*session_, to, offset, bytes);
  if (!spot.ok()) return spot.status();
  if (bytes == 0) return Status();
  LC_TRY(session_->enter());
  const Gl &gl = session_->context->gl();
  const PinnedSpot pinned = find_pinned(*session_, from, bytes);
  if (pinned.name != 0) {
    copy_object(gl, spot->allocation->name(), spot->offset, pinned.name, pinned.offset, bytes);
  } else {
    gl.BindBuffer(GL_COPY_WRITE_BUFFER, spot->allocation->name());
    gl.BufferSubData(GL_COPY_WRITE_BUFFER, at(spot->offset), size(bytes), from);
  }
  return session_->check("an upload");
}

Status ContextStream::download(void *to, const Buffer &from, uint64_t offset, uint64_t bytes) {
  auto spot = find_spot(*session_, from, offset, bytes);
  if (!spot.ok()) return spot.status();
  if (bytes == 0) return Status();
  LC_TRY(session_->enter());
  const Gl &gl = session_->context->gl();
  const PinnedSpot pinned = find_pinned(*session_, to, bytes);
  if (pinned.name != 0) {
    copy_object(gl, pinned.name, pinned.offset, spot->allocation->name(), spot->offset, bytes);
    return session_->check("a download");
  }
  gl.BindBuffer(GL_COPY_READ_BUFFER, spot->allocation->name());
  const void *mapped =
      gl.MapBufferRange(GL_COPY_READ_BUFFER, at(spot->offset), size(bytes), GL_MAP_READ_BIT);
  LC_TRY(session_->check("a download"));
  if (mapped == nullptr) return {LC_ERROR_DEVICE, "OpenGL: glMapBufferRange gave nothing"};
  memcpy(to, mapped, bytes);
  // False if the driver lost the bytes in the meantime.
  if (!gl.UnmapBuffer(GL_COPY_READ_BUFFER))
    return {LC_ERROR_DEVICE, "OpenGL: the driver lost the bytes of a download"};
  return session_->check("a download");
}

Status ContextStream::copy(const Buffer &to, uint64_t to_offset, const Buffer &from,
                           uint64_t from_offset, uint64_t bytes) {
  auto target = find_spot(*session_, to, to_offset, bytes);
  if (!target.ok()) return target.status();
  auto source = find_spot(*session_, from, from_offset, bytes);
  if (!source.ok()) return source.status();
  if (bytes == 0) return Status();
  LC_TRY(session_->enter());
  copy_object(session_->context->gl(), target->allocation->name(), target->offset,
              source->allocation->name(), source->offset, bytes);
  return session_->check("a copy on the device");
}

Status ContextStream::zero(const Buffer &buffer, uint64_t offset, uint64_t bytes) {
  auto spot = find_spot(*session_, buffer, offset, bytes);
  if (!spot.ok()) return spot.status();
  if (bytes == 0) return Status();
  LC_TRY(session_->enter());
  for (uint64_t done = 0; done < bytes; done += kZeroBytes)
    copy_object(session_->context->gl(), spot->allocation->name(), spot->offset + done,
                session_->zeros, 0, std::min(kZeroBytes, bytes - done));
  return session_->check("clearing device memory");
}

Status ContextStream::launch(const Launch &launch) {
  LC_TRY(session_->enter());
  return session_->launch(launch);
}

Status ContextStream::mark(Event &event) {
  auto *fence = dynamic_cast<FenceEvent *>(&event);
  if (fence == nullptr)
    return {LC_ERROR_ARGUMENT, "the event is not of " + session_->properties.id};
  LC_TRY(session_->enter());
  return fence->record();
}

Status ContextStream::await(Event &event) {
  if (dynamic_cast<FenceEvent *>(&event) == nullptr)
    return {LC_ERROR_ARGUMENT, "the event is not of " + session_->properties.id};
  return Status();
}

Status ContextStream::finish() {
  LC_TRY(session_->enter());
  session_->context->gl().Finish();
  return session_->check("glFinish");
}

}  // namespace lanecrypt::device::gl
