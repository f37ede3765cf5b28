// SPDX-License-Identifier: Apache-2.0
#include "device/gl/gl_device.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "device/gl/compute_kernels.h"
#include "device/gl/stream.h"
#include "process/diagnostics.h"

namespace lanecrypt::device {
namespace gl {
namespace {

class GlDevice : public Device {
 public:
  explicit GlDevice(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  ~GlDevice() override {
    if (session_->enter().ok()) {
      session_->kernels->close(*session_);
      session_->context->gl().DeleteBuffers(1, &session_->zeros);
    }
    session_->context.reset();
  }

  const Properties &properties() const override { return session_->properties; }
  Result<std::unique_ptr<Buffer>> allocate(MemoryKind kind, uint64_t bytes) override {
    return kind == MemoryKind::kDevice ? allocate_device(session_, bytes)
                                       : allocate_pinned(session_, bytes);
  }
  Result<std::unique_ptr<Buffer>> view(uint64_t address, uint64_t bytes) override {
    return view_device(session_, address, bytes);
  }
  Result<std::unique_ptr<Stream>> make_stream() override {
    return std::unique_ptr<Stream>(new ContextStream(session_));
  }
  Result<std::unique_ptr<Stream>> adopt_stream(void *) override {
    return Status(LC_ERROR_UNSUPPORTED, "OpenGL has no streams of the caller's");
  }
  Result<std::unique_ptr<Event>> make_event() override {
    return std::unique_ptr<Event>(new FenceEvent(session_));
  }
  uint32_t resident_thread_blocks(const char *, uint32_t thread_block_size, uint32_t) override {
    // OpenGL does not report this; a multiprocessor runs 2,048 threads, or a few less.
    constexpr uint32_t kThreads = 2048;
    if (!session_->properties.is_gpu) return session_->properties.compute_units;
    return session_->properties.compute_units *
           std::max(kThreads / std::max(thread_block_size, 1u), 1u);
  }
  // The context is current on that thread.
  bool waits_on_one_thread() const override { return true; }
  void begin_service() override { session_->is_serving = true; }

 private:
  std::shared_ptr<Session> session_;
};

// Returns the PCI address of the card from its path in sysfs, for example "0000:01:00.0"; 0 if
// there is none.
uint64_t pci_address(const std::string &drm_file) {
  const size_t slash = drm_file.rfind('/');
  if (slash == std::string::npos) return 0;
  const std::string link = "/sys/class/drm" + drm_file.substr(slash) + "/device";
  char path[PATH_MAX];
  if (realpath(link.c_str(), path) == nullptr) return 0;
  const char *last = strrchr(path, '/');
  unsigned domain = 0, bus = 0, slot = 0;
  if (last == nullptr || sscanf(last, "/%x:%x:%x.", &domain, &bus, &slot) != 3) return 0;
  return uint64_t{domain} << 16 | uint64_t{bus} << 8 | uint64_t{slot} << 3;
}

void add_limits(const Limits &limits, Properties *properties) {
  properties->name = limits.renderer;
  properties->driver = limits.version_text;
  properties->platform = limits.vendor;
  if (limits.is_software()) properties->is_gpu = false;
  // The count of a large chip. On smaller ones some thread blocks wait for others, and each fills
  // its tables again.
  constexpr uint32_t kUnknownUnits = 528;
  properties->compute_units = !properties->is_gpu
                                  ? std::max(std::thread::hardware_concurrency(), 1u)
                              : limits.multiprocessors != 0 ? limits.multiprocessors
                                                            : kUnknownUnits;
  properties->shared_bytes = limits.shared_bytes;
  properties->max_thread_block_size = std::max(limits.max_thread_block_size, 32u);
}

// OpenGL ES, or desktop OpenGL where only that has what the compute shaders need.
Result<std::unique_ptr<Context>> open_context(const EglPlace &place) {
  auto context = Context::open(place, false);
  if (context.ok() && ComputeKernels::can_run((*context)->limits())) return context;
  auto desktop = Context::open(place, true);
  return desktop.ok() && ComputeKernels::can_run((*desktop)->limits()) ? std::move(desktop)
                                                                       : std::move(context);
}

Result<std::unique_ptr<Device>> open_for_compute(const EglPlace &place,
                                                 const Properties &properties) {
  auto context = open_context(place);
  if (!context.ok()) return context.status();
  // Two contexts were opened, and the other one was made current last.
  LC_TRY((*context)->enter());
  const Limits &limits = (*context)->limits();
  if (!ComputeKernels::can_run(limits))
    return Status(LC_ERROR_NO_DEVICE, "the driver offers '" + limits.version_text +
                                          "', which has not what any kernel needs");
  auto kernels = std::make_unique<ComputeKernels>(limits);
  return open_device(std::move(*context), std::move(kernels), properties);
}

}  // namespace

Properties describe(const EglPlace &place, size_t number) {
  Properties properties;
  properties.id = "gl:" + std::to_string(number);
  properties.api = "gl";
  properties.platform = "EGL";
  properties.driver = "unknown until it is opened";
  properties.is_gpu = !place.has("EGL_MESA_device_software");
  properties.name = !place.name.empty() ? place.name
                    : properties.is_gpu ? "GPU by OpenGL"
                                        : "Mesa's software renderer";
  if (properties.is_gpu) properties.pci_address = pci_address(place.drm_file);
  properties.compute_units = 1;
  properties.warp_threads = 32;
  properties.kernel_sets = bit_of(KernelSet::kCiphers);
  properties.max_thread_block_size = 32;
  properties.fixed_thread_block_size = true;
  return properties;
}

Result<std::unique_ptr<Device>> open_device(std::unique_ptr<Context> context,
                                            std::unique_ptr<Kernels> kernels,
                                            Properties properties) {
  const Limits &limits = context->limits();
  if (properties.is_gpu && limits.is_software())
    return Status(LC_ERROR_NO_DEVICE,
                  "the driver of this device computes on the CPU (" + limits.renderer + ")");
  add_limits(limits, &properties);
  auto session = std::make_shared<Session>();
  // Shaders count bytes in 32 bits.
  session->most_buffer_bytes = std::min(uint64_t{1} << 31, limits.storage_bytes / 16 * 16);
  session->context = std::move(context);
  properties.kernels = kernels->names();
  session->kernels = std::move(kernels);
  // OpenGL tells no size of the memory: this much can be had at once.
  properties.memory_bytes = session->most_buffer_bytes;
  session->properties = std::move(properties);
  if (const char *fault = process::diagnostic_variable("LANECRYPT_GL_FAULT");
      fault != nullptr && strncmp(fault, "lost-after:", 11) == 0)
    session->launches_left = atoll(fault + 11);

  const Gl &gl = session->context->gl();
  const std::vector<uint8_t> zeros(kZeroBytes, 0);
  gl.GenBuffers(1, &session->zeros);
  gl.BindBuffer(GL_COPY_WRITE_BUFFER, session->zeros);
  gl.BufferData(GL_COPY_WRITE_BUFFER, kZeroBytes, zeros.data(), GL_STATIC_COPY);
  LC_TRY(session->check("opening the device"));
  return std::unique_ptr<Device>(new GlDevice(std::move(session)));
}

Status Session::enter() {
  if (context == nullptr) return {LC_ERROR_INTERNAL, properties.id + " is closed"};
  if (is_forked()) return {LC_ERROR_NO_DEVICE, kUsedByParent};
  LC_TRY(context->enter());
  std::lock_guard lock(mutex);
  if (!dead_buffers.empty()) {
    context->gl().DeleteBuffers(static_cast<GLsizei>(dead_buffers.size()), dead_buffers.data());
    dead_buffers.clear();
  }
  return Status();
}

Status Session::check(const char *what) { return context->check(what); }

Status Session::launch(const Launch &launch) {
  if (is_serving && launches_left >= 0 && launches_left-- == 0) {
    launches_left = 0;
    return {LC_ERROR_DEVICE, "the OpenGL context was lost (simulated)"};
  }
  const std::vector<std::string> &names = properties.kernels;
  if (std::find(names.begin(), names.end(), launch.kernel) == names.end())
    return {LC_ERROR_INTERNAL, properties.id + " has no kernel " + launch.kernel};
  return kernels->launch(*this, launch);
}

}  // namespace gl

std::vector<Found> find_gl() {
  std::vector<Found> found;
  for (const gl::EglPlace &place : gl::find_places()) {
    Properties properties = gl::describe(place, found.size());
    if (place.device == EGL_NO_DEVICE_EXT) {
      // There is only one display, and only a context tells which device it belongs to.
      auto context = gl::Context::open(place, false);
      if (context.ok())
        gl::add_limits((*context)->limits(), &properties);
      else if (gl::egl() != nullptr)
        properties.unusable = context.status().text();
    }
    const auto open = [place, properties](KernelSet set) -> Result<std::unique_ptr<Device>> {
      if (!properties.has(set))
        return Status(LC_ERROR_UNSUPPORTED, "OpenGL does no " + std::string(row_of(set).subject));
      return gl::open_for_compute(place, properties);
    };
    found.push_back({std::move(properties), open});
  }
  return found;
}

std::string why_no_gl() {
  if (gl::is_forked()) return kUsedByParent;
  if (gl::egl() == nullptr) return "OpenGL is reached through EGL, and " + std::string(gl::kNoEgl);
  return gl::find_places().empty() ? "EGL finds no driver of OpenGL (Mesa's are Debian's packages "
                                     "libegl-mesa0 and libgl1-mesa-dri, NVIDIA's libegl-nvidia0)"
                                   : "";
}

}  // namespace lanecrypt::device
