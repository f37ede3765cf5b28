// SPDX-License-Identifier: Apache-2.0
#include "device/gl/context.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace lanecrypt::device::gl {
namespace {

constexpr GLenum kSmCountNv = 0x933B;    // GL_NV_shader_thread_group
constexpr EGLint kRendererExt = 0x335F;  // EGL_EXT_device_query_name

bool has_word(const std::string &list, const std::string &word) {
  return (" " + list + " ").find(" " + word + " ") != std::string::npos;
}

std::string text_of(const char *text) { return text == nullptr ? "" : text; }

Status no_context(const std::string &why) { return {LC_ERROR_NO_DEVICE, why}; }

std::string egl_failed(EGLint error, const char *call) {
  char code[16];
  snprintf(code, sizeof code, "0x%04x", error);
  return std::string("EGL: ") + call + " failed with " + code;
}

std::string egl_failed(const Egl &egl, const char *call) {
  return egl_failed(egl.GetError(), call);
}

// The first versions with compute shaders.
constexpr EGLint kDesktopVersion[2] = {4, 3}, kEsVersion[2] = {3, 1};

// A display is opened once and stays: to close it would close it for other
// contexts, and for the application.
EGLDisplay open_display(const Egl &egl, const EglPlace &place, const std::string &client) {
  EGLDisplay display = EGL_NO_DISPLAY;
  if (place.device != EGL_NO_DEVICE_EXT && egl.GetPlatformDisplay != nullptr)
    display = egl.GetPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, place.device, nullptr);
  else if (egl.GetPlatformDisplay != nullptr && has_word(client, "EGL_MESA_platform_surfaceless"))
    display = egl.GetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA,
                                     reinterpret_cast<void *>(EGL_DEFAULT_DISPLAY), nullptr);
  else
    display = egl.GetDisplay(EGL_DEFAULT_DISPLAY);
  if (display == EGL_NO_DISPLAY) return display;
  EGLint major = 0, minor = 0;
  return egl.Initialize(display, &major, &minor) ? display : EGL_NO_DISPLAY;
}

}  // namespace

bool EglPlace::has(const char *extension) const { return has_word(extensions, extension); }

std::vector<EglPlace> find_places() {
  const Egl *library = egl();
  if (library == nullptr) return {};
  const std::string client = text_of(library->QueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS));
  const bool enumerates =
      has_word(client, "EGL_EXT_platform_device") && library->QueryDevices != nullptr &&
      library->QueryDeviceString != nullptr && library->GetPlatformDisplay != nullptr;
  EGLint count = 0;
  if (!enumerates || !library->QueryDevices(0, nullptr, &count)) {
    if (open_display(*library, {}, client) == EGL_NO_DISPLAY) return {};
    return {EglPlace{}};
  }
  std::vector<EGLDeviceEXT> devices(static_cast<size_t>(count));
  if (count == 0 || !library->QueryDevices(count, devices.data(), &count)) return {};
  std::vector<EglPlace> places;
  for (const EGLDeviceEXT device : devices) {
    EglPlace place;
    place.device = device;
    place.extensions = text_of(library->QueryDeviceString(device, EGL_EXTENSIONS));
    if (place.has("EGL_EXT_device_query_name"))
      place.name = text_of(library->QueryDeviceString(device, kRendererExt));
    if (place.has("EGL_EXT_device_drm"))
      place.drm_file = text_of(library->QueryDeviceString(device, EGL_DRM_DEVICE_FILE_EXT));
    places.push_back(std::move(place));
  }
  std::stable_partition(places.begin(), places.end(), [](const EglPlace &place) {
    return !place.has("EGL_MESA_device_software");
  });
  return places;
}

bool Limits::is_software() const {
  for (const char *name : {"llvmpipe", "softpipe", "swrast", "Software", "SwiftShader"})
    if (renderer.find(name) != std::string::npos) return true;
  return false;
}

Result<std::unique_ptr<Context>> Context::open(const EglPlace &place, bool desktop) {
  std::unique_ptr<Context> context(new Context);
  LC_TRY(context->create(place, desktop));
  return context;
}

Status Context::create(const EglPlace &place, bool desktop) {
  egl_ = egl();
  if (egl_ == nullptr) return no_context(kNoEgl);
  const std::string client = text_of(egl_->QueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS));
  display_ = open_display(*egl_, place, client);
  if (display_ == EGL_NO_DISPLAY) return no_context(egl_failed(*egl_, "eglInitialize"));
  const std::string extensions = text_of(egl_->QueryString(display_, EGL_EXTENSIONS));
  if (!egl_->BindAPI(desktop ? EGL_OPENGL_API : EGL_OPENGL_ES_API))
    return no_context(desktop ? "EGL offers no desktop OpenGL here (Debian's package libopengl0 or "
                                "libgl1, and a driver that has it)"
                              : "EGL offers no OpenGL ES here");
  const bool surfaceless = has_word(extensions, "EGL_KHR_surfaceless_context");
  EGLConfig config = EGL_NO_CONFIG_KHR;
  if (!surfaceless || !has_word(extensions, "EGL_KHR_no_config_context")) {
    const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                             desktop ? EGL_OPENGL_BIT : EGL_OPENGL_ES3_BIT, EGL_NONE};
    EGLint count = 0;
    if (!egl_->ChooseConfig(display_, wanted, &config, 1, &count) || count == 0)
      return no_context("the driver is too old: it has no OpenGL ES 3.1");
  }
  const bool may_tell_reset = has_word(extensions, "EGL_EXT_create_context_robustness");
  for (const bool robust : {true, false})
    if (context_ == EGL_NO_CONTEXT && (may_tell_reset || !robust))
      create_version(config, desktop, robust);
  if (context_ == EGL_NO_CONTEXT) {
    const std::string needed = desktop ? "OpenGL 4.3" : "OpenGL ES 3.1";
    const EGLint error = egl_->GetError();
    // EGL returns this error for a version that the driver does not have.
    if (error == EGL_BAD_MATCH) return no_context("the driver is too old: it has no " + needed);
    return no_context("no context of " + needed +
                      " can be had: " + egl_failed(error, "eglCreateContext"));
  }
  if (!surfaceless) {
    const EGLint size[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
    surface_ = egl_->CreatePbufferSurface(display_, config, size);
  }
  LC_TRY(enter());
  std::string why;
  gl_ = load_gl(&why);
  if (gl_ == nullptr) return no_context(why);
  read_limits();
  if (limits_.version < (desktop ? 430 : 310))
    return no_context("the driver offers '" + limits_.version_text +
                      "'; OpenGL ES 3.1 or OpenGL 4.3 is needed");
  forget_errors();
  return Status();
}

void Context::create_version(EGLConfig config, bool desktop, bool robust) {
  const auto &version = desktop ? kDesktopVersion : kEsVersion;
  std::vector<EGLint> attributes = {EGL_CONTEXT_MAJOR_VERSION, version[0],
                                    EGL_CONTEXT_MINOR_VERSION, version[1]};
  if (desktop)
    attributes.insert(attributes.end(),
                      {EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT});
  // Asks for notification of GPU resets, which are otherwise undefined.
  if (robust)
    attributes.insert(attributes.end(), {EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT,
                                         EGL_LOSE_CONTEXT_ON_RESET_EXT});
  attributes.push_back(EGL_NONE);
  context_ = egl_->CreateContext(display_, config, EGL_NO_CONTEXT, attributes.data());
  robust_ = robust;
}

// Clears pending errors. The number is limited, since a lost context may report errors forever.
void Context::forget_errors() {
  for (int n = 0; n < 16 && gl_->GetError() != GL_NO_ERROR; ++n) {
  }
}

void Context::read_limits() {
  const auto number = [&](GLenum what) {
    GLint value = 0;
    gl_->GetIntegerv(what, &value);
    return static_cast<uint32_t>(std::max(value, 0));
  };
  const auto text = [&](GLenum what) {
    return text_of(reinterpret_cast<const char *>(gl_->GetString(what)));
  };
  limits_.renderer = text(GL_RENDERER);
  limits_.vendor = text(GL_VENDOR);
  limits_.version_text = text(GL_VERSION);
  limits_.is_desktop = limits_.version_text.rfind("OpenGL ES", 0) != 0;
  const uint32_t major = number(GL_MAJOR_VERSION), minor = number(GL_MINOR_VERSION);
  limits_.version = static_cast<int>(major * 100 + minor * 10);
  const uint32_t count = number(GL_NUM_EXTENSIONS);
  for (uint32_t n = 0; n < count; ++n)
    extensions_.insert(text_of(reinterpret_cast<const char *>(gl_->GetStringi(GL_EXTENSIONS, n))));
  const auto has = [&](const char *name) { return extensions_.count(name) != 0; };
  limits_.shared_bytes = number(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE);
  limits_.max_thread_block_size = number(GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS);
  limits_.max_thread_blocks = 65535;
  limits_.storage_blocks = number(GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS);
  GLint64 bytes = 0;
  gl_->GetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &bytes);
  limits_.storage_bytes = static_cast<uint64_t>(std::max<GLint64>(bytes, 0));
  limits_.storage_alignment = std::max(number(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT), 1u);
  if (has("GL_NV_shader_thread_group")) limits_.multiprocessors = number(kSmCountNv);
  limits_.can_map_forever = gl_->BufferStorageEXT != nullptr &&
                            (has("GL_EXT_buffer_storage") || has("GL_ARB_buffer_storage") ||
                             (limits_.is_desktop && limits_.version >= 440));
  limits_.tells_time = gl_->QueryCounterEXT != nullptr && gl_->GenQueriesEXT != nullptr &&
                       gl_->GetQueryObjectui64vEXT != nullptr &&
                       (limits_.is_desktop || has("GL_EXT_disjoint_timer_query"));
  limits_.tells_reset = robust_ && gl_->GetGraphicsResetStatusEXT != nullptr;
}

Context::~Context() {
  if (egl_ == nullptr || is_forked()) return;
  if (context_ != EGL_NO_CONTEXT) {
    egl_->MakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    egl_->DestroyContext(display_, context_);
  }
  if (surface_ != EGL_NO_SURFACE) egl_->DestroySurface(display_, surface_);
}

Status Context::enter() {
  // Cheap if it is current already, which is always so except after probing.
  if (egl_->MakeCurrent(display_, surface_, surface_, context_)) return Status();
  return {LC_ERROR_DEVICE, egl_failed(*egl_, "eglMakeCurrent")};
}

Status Context::check(const char *what) {
  if (limits_.tells_reset) {
    const GLenum reset = gl_->GetGraphicsResetStatusEXT();
    if (reset != GL_NO_ERROR)
      return {LC_ERROR_DEVICE,
              std::string("the OpenGL context was lost: ") +
                  (reset == GL_GUILTY_CONTEXT_RESET     ? "the GPU was reset by our own work"
                   : reset == GL_INNOCENT_CONTEXT_RESET ? "the GPU was reset by another program"
                                                        : "the GPU was reset")};
  }
  const GLenum error = gl_->GetError();
  if (error == GL_NO_ERROR) return Status();
  forget_errors();
  char code[16];
  snprintf(code, sizeof code, "0x%04x", error);
  const std::string sentence = std::string("OpenGL: ") + what + " failed with " + code;
  if (error == GL_OUT_OF_MEMORY) return {LC_ERROR_MEMORY, sentence + " (out of memory)"};
  if (error == GL_CONTEXT_LOST) return {LC_ERROR_DEVICE, sentence + " (the context was lost)"};
  return {LC_ERROR_INTERNAL, sentence};
}

}  // namespace lanecrypt::device::gl
