// In-order command queues of an OpenCL device, and markers in them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "device/opencl/session.h"

namespace lanecrypt::device::opencl {

// Returns another reference to the same event.
EventHandle share(const EventHandle &event);

// A marker, and the commands before it whose status was not yet known. The marker alone is not
// enough: in a queue with a failed command it may end without an error.
class MarkedEvent : public Event {
 public:
  Status wait() override;
  bool reached() override;
  uint64_t nanoseconds_since(Event &earlier) override;

  void record(EventHandle marker, std::vector<EventHandle> commands, cl_int failure);
  // Null before the first mark.
  cl_event marker() const { return marker_.get(); }

 private:
  // Returns the device time of this point; 0 if there is none.
  uint64_t time() const;

  EventHandle marker_;
  EventHandle last_command_;  // before the marker
  std::vector<EventHandle> commands_;
  cl_int failure_ = CL_SUCCESS;  // the first one before the marker
};

class QueueStream : public Stream {
 public:
  QueueStream(std::shared_ptr<Session> session, QueueHandle queue)
      : session_(std::move(session)), queue_(std::move(queue)) {}
  ~QueueStream() override;

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
  struct DeviceAddress {
    cl_mem memory;
    uint64_t offset;
  };
  Result<DeviceAddress> resolve(const Buffer &buffer, uint64_t offset, uint64_t bytes) const;
  // Flushes the queue after a command was enqueued, and keeps the command until its status is
  // known.
  Status submitted(EventHandle command);
  // Drops commands that have ended; keeps the first failure.
  void settle();

  std::shared_ptr<Session> session_;
  QueueHandle queue_;
  std::vector<EventHandle> commands_;
  cl_int failure_ = CL_SUCCESS;
};

}  // namespace lanecrypt::device::opencl
