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

// Set once and never freed: the library stays as long as the process. It has no lock,
// since a child of fork could inherit that held.
std::atomic<const Table *> loaded{nullptr};

const Table *load() {
  // Loaded by its soname. gpu.so's own run path says where it is, and a library that the
  // program has loaded already serves as well.
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
  // Both must come from one build: what passes between them has no version of its own.
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
