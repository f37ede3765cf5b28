// The state that all objects of one open device share. They hold it by shared_ptr, so that a buffer
// may outlive the Device that made it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.h"
#include "device/gl/context.h"

namespace lanecrypt::device::gl {

class Allocation;
struct Session;

// What a device computes with. All calls come with the context current.
class Kernels {
 public:
  virtual ~Kernels() = default;
  // The kernels that launch() knows.
  virtual std::vector<std::string> names() const = 0;
  virtual Status launch(Session &session, const Launch &launch) = 0;
  // Deletes the OpenGL objects that it has made.
  virtual void close(Session &session) = 0;
};

struct Session {
  Properties properties;
  std::unique_ptr<Context> context;  // goes with the Device
  std::unique_ptr<Kernels> kernels;
  uint64_t most_buffer_bytes = 0;
  GLuint zeros = 0;  // a buffer of kZeroBytes zeros

  // Makes the context current and deletes the buffers that were freed in the meantime.
  Status enter();
  // Returns the errors that OpenGL has reported since the last call.
  Status check(const char *what);
  Status launch(const Launch &launch);

  std::mutex mutex;  // guards the members below: buffers are freed on any thread
  std::vector<GLuint> dead_buffers;
  std::map<uint64_t, std::weak_ptr<Allocation>> allocations;  // device memory by address
  struct Pinned {
    uint64_t bytes;
    GLuint name;
    uint64_t offset;  // in the buffer object
  };
  std::map<uint64_t, Pinned> pinned;  // mapped buffers by address

  // LANECRYPT_GL_FAULT=lost-after:N: the launches until a simulated loss, counted after the
  // self-test.
  int64_t launches_left = -1;  // -1: no loss
  bool is_serving = false;
};

constexpr uint64_t kZeroBytes = 1 << 20;

}  // namespace lanecrypt::device::gl
