// Loads liblanecrypt on demand and forwards the calls of lanecrypt.h to it.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/library.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <new>

#include "lanecrypt/lanecrypt.h"
#include "process/cancellation.h"

namespace lanecrypt::provider {
namespace {

struct Table {
#define F(result, failure, name, parameters, arguments) decltype(&::name) name;
#include "provider/library_functions.inc"
#undef F
};

// loaded is set once and never freed: the library stays loaded until the process ends. It is atomic
// and has no lock, because a child of fork() could inherit a lock in the locked state.
std::atomic<const Table *> loaded{nullptr};

const Table *load() {
  // The library is opened by its soname, which the run path of gpu.so resolves. A copy that the
  // program has already loaded serves as well.
  void *handle = dlopen(LANECRYPT_SONAME, RTLD_NOW | RTLD_LOCAL);
  Table *table = handle == nullptr ? nullptr : new (std::nothrow) Table{};
  if (table == nullptr) return nullptr;
  const struct {
    const char *name;
    void *place;
  } entries[] = {
#define F(result, failure, name, parameters, arguments) {#name, &table->name},
#include "provider/library_functions.inc"
#undef F
  };
  bool is_whole = true;
  for (const auto &entry : entries) {
    void *symbol = dlsym(handle, entry.name);
    is_whole = is_whole && symbol != nullptr;
    std::memcpy(entry.place, &symbol, sizeof symbol);
  }
  // gpu.so and the library must come from one build, because the interface between them has no
  // version of its own.
  if (is_whole && std::strcmp(table->lc_version(), LC_VERSION_TEXT) == 0) return table;
  delete table;
  return nullptr;
}

}  // namespace

bool load_library() {
  if (loaded.load(std::memory_order_acquire) != nullptr) return true;
  const process::CancellationOff not_cancelled;
  const Table *made = load(), *before = nullptr;
  if (made == nullptr) return false;
  if (!loaded.compare_exchange_strong(before, made, std::memory_order_acq_rel)) delete made;
  return true;
}

}  // namespace lanecrypt::provider

extern "C" {

#define F(result, failure, name, parameters, arguments)         \
  result name parameters {                                      \
    using lanecrypt::provider::loaded;                          \
    const auto *table = loaded.load(std::memory_order_acquire); \
    if (table == nullptr) return failure;                       \
    return table->name arguments;                               \
  }
#include "provider/library_functions.inc"
#undef F

}  // extern "C"
