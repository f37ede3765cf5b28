// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/loader.h"

#include <dlfcn.h>

#include "process/first_user.h"

namespace lanecrypt::device::opencl {
namespace {

struct Loaded {
  Api api;
  bool complete = false;
};

constinit process::FirstUser user;  // guards the loaded library, and all locks related to it

Loaded load_once() {
  Loaded loaded;
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return loaded;
  loaded.complete = true;
#define LC_OPENCL_FIND(name)                                                      \
  loaded.api.name = reinterpret_cast<decltype(Api::name)>(dlsym(library, #name)); \
  if (loaded.api.name == nullptr) loaded.complete = false;
  LC_OPENCL_FUNCTIONS(LC_OPENCL_FIND)
#undef LC_OPENCL_FIND
  return loaded;
}

const Loaded &loaded() {
  static const Loaded once = load_once();
  return once;
}

}  // namespace

bool begin_use() { return user.begin(); }

bool load() { return begin_use() && loaded().complete; }

const Api &cl() { return loaded().api; }

bool survived_fork() { return !user.is_parent(); }

}  // namespace lanecrypt::device::opencl
