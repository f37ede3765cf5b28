// SPDX-License-Identifier: Apache-2.0
#include "device/gl/loader.h"

#include <dlfcn.h>

#include <memory>
#include <mutex>
#include <type_traits>

#include "process/first_user.h"

namespace lanecrypt::device::gl {
namespace {

constinit process::FirstUser user;

std::unique_ptr<Egl> open_egl() {
  void *library = nullptr;
  for (const char *name : {"libEGL.so.1", "libEGL.so"}) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) return nullptr;
  auto egl = std::make_unique<Egl>();
  bool whole = true;
#define LC_FIND(name)                                                             \
  egl->name = reinterpret_cast<decltype(egl->name)>(dlsym(library, "egl" #name)); \
  whole = whole && egl->name != nullptr;
  LC_EGL_FUNCTIONS(LC_FIND)
#undef LC_FIND
  if (!whole) return nullptr;
  const auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(egl->GetProcAddress(name));
  };
  find(egl->GetPlatformDisplay, "eglGetPlatformDisplayEXT");
  find(egl->QueryDevices, "eglQueryDevicesEXT");
  find(egl->QueryDeviceString, "eglQueryDeviceStringEXT");
  return egl;
}

// nullptr where it is not here.
void *es_library() {
  static void *const opened = dlopen("libGLESv2.so.2", RTLD_NOW | RTLD_LOCAL);
  return opened;
}

}  // namespace

bool is_forked() { return user.is_parent(); }

const Egl *egl() {
  if (!user.begin()) return nullptr;
  // Never closed: drivers leave threads and exit handlers behind.
  static const Egl *const opened = open_egl().release();
  return opened;
}

void *find_gl_function(const char *name) {
  std::string plain = name;
  if (plain.size() > 3 && plain.compare(plain.size() - 3, 3, "EXT") == 0)
    plain.resize(plain.size() - 3);
  void *const library = es_library();
  for (const char *each : {plain.c_str(), name}) {
    if (auto *function = reinterpret_cast<void *>(egl()->GetProcAddress(each))) return function;
    // EGL 1.4 need not know the functions of the core.
    if (library != nullptr)
      if (void *function = dlsym(library, each)) return function;
  }
  return nullptr;
}

const Gl *load_gl(std::string *why) {
  // First, since a child of fork may inherit the lock locked.
  *why = kNoEgl;
  if (egl() == nullptr) return nullptr;
  static std::mutex mutex;
  static const Gl *loaded = nullptr;
  std::lock_guard lock(mutex);
  if (loaded != nullptr) return loaded;
  std::string missing;
  auto gl = std::make_unique<Gl>();
#define LC_FIND(name) gl->name = reinterpret_cast<decltype(gl->name)>(find_gl_function("gl" #name));
  LC_GL_OPTIONAL(LC_FIND)
#define LC_FIND_NEEDED(name) \
  LC_FIND(name)              \
  if (gl->name == nullptr && missing.empty()) missing = "gl" #name;
  LC_GL_FUNCTIONS(LC_FIND_NEEDED)
#undef LC_FIND_NEEDED
#undef LC_FIND
  if (!missing.empty()) {
    *why = es_library() != nullptr ? "the driver is too old: it has no " + missing
                                   : "EGL has no " + missing + ", and there is no libGLESv2.so.2 " +
                                         "that can be loaded (Debian's package libgles2)";
    return nullptr;
  }
  loaded = gl.release();
  return loaded;
}

}  // namespace lanecrypt::device::gl
