// Streams of an OpenGL device, and markers in them. A context has one queue, so all streams of a
// device are that queue.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/gl/memory.h"

namespace lanecrypt::device::gl {

class FenceEvent : public Event {
 public:
  explicit FenceEvent(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  ~FenceEvent() override;
  Status wait() override;
  bool reached() override;
  uint64_t nanoseconds_since(Event &earlier) override;

  Status record();

 private:
  uint64_t time();

  std::shared_ptr<Session> session_;
  GLsync fence_ = nullptr;  // null before the first mark
  GLuint query_ = 0;        // for the time
};

class ContextStream : public Stream {
 public:
  explicit ContextStream(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  ~ContextStream() override;

  Status upload(const Buffer &to, uint64_t offset, const void *from, uint64_t bytes) override;
  Status download(void *to, const Buffer &from, uint64_t offset, uint64_t bytes) override;
  Status copy(const Buffer &to, uint64_t to_offset, const Buffer &from, uint64_t from_offset,
              uint64_t bytes) override;
  Status zero(const Buffer &buffer, uint64_t offset, uint64_t bytes) override;
  Status launch(const Launch &launch) override;
  Status mark(Event &event) override;
  Status await(Event &event) override;
  Status finish() override;

 private:
  std::shared_ptr<Session> session_;
};

}  // namespace lanecrypt::device::gl
