// OpenGL contexts without a window, on each device that EGL knows.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "device/gl/loader.h"
#include "job/status.h"

namespace lanecrypt::device::gl {

// A device of EGL or, if EGL does not enumerate devices, its default display.
struct EglPlace {
  EGLDeviceEXT device = EGL_NO_DEVICE_EXT;
  std::string extensions;  // of the device
  std::string name;        // if EGL reports it without a context
  std::string drm_file;    // "/dev/dri/card0"

  bool has(const char *extension) const;
};

// Returns the devices that EGL finds, GPUs first; none if there is no EGL.
std::vector<EglPlace> find_places();

// The capabilities of a context.
struct Limits {
  int version = 0;  // 310 for OpenGL ES 3.1, 430 for OpenGL 4.3; no context has less
  bool is_desktop = false;
  uint32_t shared_bytes = 0;
  uint32_t max_thread_block_size = 0;
  uint32_t max_thread_blocks = 0;
  uint32_t storage_blocks = 0;  // per compute shader
  uint64_t storage_bytes = 0;   // per block
  uint32_t storage_alignment = 256;
  uint32_t multiprocessors = 0;  // 0: not told
  bool can_map_forever = false;
  bool tells_time = false;
  bool tells_reset = false;
  std::string renderer, version_text, vendor;

  // Whether the driver computes on the CPU.
  bool is_software() const;
};

// A context, which is current on one thread at a time.
class Context {
 public:
  // Opens a context; `desktop` asks for desktop OpenGL. Leaves it current. The error says what is
  // missing.
  static Result<std::unique_ptr<Context>> open(const EglPlace &place, bool desktop);
  // Destroys the context, which must not be current on another thread.
  ~Context();
  Context(const Context &) = delete;

  // Makes the context current on this thread, if it is not. Returns LC_ERROR_DEVICE if it is lost.
  Status enter();
  // Returns the errors that OpenGL has reported since the last call: LC_ERROR_DEVICE for a lost
  // context, LC_ERROR_MEMORY, or LC_ERROR_INTERNAL for all others.
  Status check(const char *what);
  const Gl &gl() const { return *gl_; }
  const Limits &limits() const { return limits_; }

 private:
  Context() = default;
  Status create(const EglPlace &place, bool desktop);
  // Sets context_ where the driver has this version.
  void create_version(EGLConfig config, bool desktop, bool robust);
  void read_limits();
  void forget_errors();

  const Egl *egl_ = nullptr;
  const Gl *gl_ = nullptr;
  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
  EGLSurface surface_ = EGL_NO_SURFACE;
  bool robust_ = false;
  Limits limits_;
  std::set<std::string> extensions_;
};

}  // namespace lanecrypt::device::gl
