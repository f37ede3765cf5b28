// Binds the process's libcrypto, and defines the functions that forward to it.
//
// SPDX-License-Identifier: Apache-2.0
// The RSA paddings and the RAND methods are deprecated, but still needed here.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "libcrypto/forward.h"

#include <dlfcn.h>
#include <link.h>
#include <openssl/async.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/decoder.h>
#include <openssl/encoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>

namespace lanecrypt {
namespace {

// Object is the loaded object that contains `address`. dladdr() would find it too, but also
// searches all symbols of the object for the nearest name.
struct Object {
  uintptr_t address;
  uintptr_t begin, end;
  // The dynamic linker's string, valid as long as the object is loaded. "": the program itself.
  const char *path;
};

struct Table {
  // The bound libcrypto.
  Object object;
  void *handle;
#define F(result, failure, name, parameters, arguments) decltype(&::name) name;
#include "libcrypto/functions.inc"
#undef F
};

// bound is set once and never freed. It is atomic and has no lock, because it must work in a child
// of fork() whose parent was just binding.
std::atomic<const Table *> bound{nullptr};

// find_object() is a callback of dl_iterate_phdr(), which is C code and holds a lock, so it may not
// throw. It allocates no memory.
int find_object(struct dl_phdr_info *info, size_t, void *pointer) noexcept {
  Object &object = *static_cast<Object *>(pointer);
  uintptr_t begin = UINTPTR_MAX, end = 0;
  for (int n = 0; n < info->dlpi_phnum; ++n) {
    const ElfW(Phdr) &part = info->dlpi_phdr[n];
    if (part.p_type != PT_LOAD) continue;
    begin = std::min<uintptr_t>(begin, info->dlpi_addr + part.p_vaddr);
    end = std::max<uintptr_t>(end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  if (object.address < begin || object.address >= end) return 0;
  object.begin = begin;
  object.end = end;
  object.path = info->dlpi_name != nullptr ? info->dlpi_name : "";
  return 1;
}

// symbol_of() returns the symbol, or nullptr if the object does not export it itself: dlsym() also
// searches the object's dependencies.
void *symbol_of(void *handle, const Object &object, const char *name) {
  void *symbol = dlsym(handle, name);
  const auto address = reinterpret_cast<uintptr_t>(symbol);
  return address >= object.begin && address < object.end ? symbol : nullptr;
}

// The number of threads that are inside functions that OPENSSL_cleanup() must wait for.
std::atomic<int> inside{0};

// OPENSSL_cleanup() calls wait_for_threads_inside() after libcrypto_is_ending() has become true and
// before it frees anything. The time limit is for a thread that was killed inside such a function.
void wait_for_threads_inside() {
  for (int n = 0; n < 1000 && inside != 0; ++n) usleep(1000);
}

// have_cleanup_wait() registers that function. OpenSSL 4 has no OPENSSL_atexit(), and needs none:
// its cleanup runs when the process unloads it.
void have_cleanup_wait(const Table &table) {
  int (*at_exit)(void (*)()) = nullptr;
  void *symbol = symbol_of(table.handle, table.object, "OPENSSL_atexit");
  std::memcpy(&at_exit, &symbol, sizeof symbol);
  if (at_exit != nullptr) (void)at_exit(wait_for_threads_inside);
  (void)pthread_atfork(nullptr, nullptr, [] { inside = 0; });
}

// bind_handle() binds the object. The handle is never closed, so that the object is not unloaded
// while the table refers to it.
Status bind_handle(void *handle, const Object &object, const std::string &path) {
  std::unique_ptr<Table> table(new (std::nothrow) Table{});
  if (table == nullptr) return Status(LC_ERROR_MEMORY, "out of memory");
  table->object = object;
  table->handle = handle;
  const struct {
    const char *name;
    void *place;
  } entries[] = {
#define F(result, failure, name, parameters, arguments) {#name, &table->name},
#include "libcrypto/functions.inc"
#undef F
  };
  for (const auto &entry : entries) {
    void *symbol = symbol_of(handle, object, entry.name);
    if (symbol == nullptr)
      return Status(LC_ERROR_UNSUPPORTED,
                    "cannot use the libcrypto in " + path + ": it does not export " + entry.name +
                        " (OpenSSL 3.0 or later, as a shared library, is needed)");
    std::memcpy(entry.place, &symbol, sizeof symbol);
  }
  const Table *before = nullptr;
  if (bound.compare_exchange_strong(before, table.get(), std::memory_order_acq_rel)) {
    have_cleanup_wait(*table.release());  // never freed
  } else if (before->object.begin != object.begin) {
    return Status(LC_ERROR_UNSUPPORTED,
                  "this process has two copies of libcrypto, and Lanecrypt already works with "
                  "another than that in " +
                      path);
  }
  return Status();
}

// Path is a copy, because another thread may unload the object.
using Path = std::array<char, PATH_MAX>;

// note_libcrypto() copies the path of a loaded object whose file is named libcrypto*. The path
// stays "" if there is none.
int note_libcrypto(struct dl_phdr_info *info, size_t, void *pointer) noexcept {
  const char *name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  const char *slash = std::strrchr(name, '/');
  if (std::strncmp(slash == nullptr ? name : slash + 1, "libcrypto", 9) != 0) return 0;
  Path &path = *static_cast<Path *>(pointer);
  const size_t length = std::strlen(name);
  if (length >= path.size()) return 0;
  std::memcpy(path.data(), name, length + 1);
  return 1;
}

}  // namespace

Status bind_libcrypto_of(const void *address) {
  Object object = {reinterpret_cast<uintptr_t>(address), 0, 0, ""};
  if (dl_iterate_phdr(find_object, &object) == 0)
    return Status(LC_ERROR_UNSUPPORTED, "cannot tell which libcrypto is calling");
  if (const Table *table = bound.load(std::memory_order_acquire);
      table != nullptr && table->object.begin == object.begin)
    return Status();
  const bool is_program = *object.path == '\0';
  const std::string path = is_program ? "the program itself" : object.path;
  void *handle = is_program ? dlopen(nullptr, RTLD_NOW | RTLD_LOCAL)
                            : dlopen(object.path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (handle == nullptr)
    return Status(LC_ERROR_UNSUPPORTED, "cannot reach the libcrypto in " + path);
  Status status = bind_handle(handle, object, path);
  if (!status.ok()) dlclose(handle);
  return status;
}

Status bind_libcrypto_of_process() {
  if (bound.load(std::memory_order_acquire) != nullptr) return Status();
  // The candidates are the libcrypto that the program sees, then one that is loaded with
  // RTLD_LOCAL, as Python's modules do, then the system's.
  if (void *seen = dlsym(RTLD_DEFAULT, "OSSL_LIB_CTX_new"); seen != nullptr)
    if (bind_libcrypto_of(seen).ok()) return Status();
  Path path{};
  dl_iterate_phdr(note_libcrypto, &path);
  for (const char *name :
       {static_cast<const char *>(path.data()), "libcrypto.so.3", "libcrypto.so.4"}) {
    if (*name == '\0') continue;
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) continue;
    void *inside = dlsym(handle, "OSSL_LIB_CTX_new");
    Status status = inside == nullptr
                        ? Status(LC_ERROR_UNSUPPORTED, std::string(name) + " is older than 3.0")
                        : bind_libcrypto_of(inside);
    dlclose(handle);  // bind_libcrypto_of() holds its own handle
    if (status.ok() || bound.load(std::memory_order_acquire) != nullptr) return Status();
  }
  return Status(LC_ERROR_UNSUPPORTED,
                "found no libcrypto of OpenSSL 3.0 or later (libcrypto.so.3 or libcrypto.so.4)");
}

// begin_libcrypto() passes an option, because OPENSSL_init_crypto() registers no exit handler
// without one. This option changes nothing for the program.
void begin_libcrypto() { (void)::OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CRYPTO_STRINGS, nullptr); }

// Without options, OPENSSL_init_crypto() initialises nothing. OPENSSL_cleanup() makes it fail from
// its first step on. In OpenSSL 4, OPENSSL_cleanup() only requests a cleanup for the time when the
// library itself is unloaded.
bool libcrypto_is_ending() {
  const Table *table = bound.load(std::memory_order_acquire);
  return table != nullptr && table->OPENSSL_init_crypto(0, nullptr) == 0;
}

namespace {

// table_of_process() returns nullptr if there is no libcrypto, or no memory to search for one. The
// functions below are also called from destructors, and libcrypto's functions do not throw.
const Table *table_of_process() noexcept {
  const Table *table = bound.load(std::memory_order_acquire);
  if (table != nullptr) return table;
  try {
    (void)bind_libcrypto_of_process().ok();
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
  return bound.load(std::memory_order_acquire);
}

// CleanupHeldOff delays a cleanup that has not begun while it lives, so that nothing is freed.
class CleanupHeldOff {
 public:
  CleanupHeldOff() {
    ++inside;
    has_begun_ = libcrypto_is_ending();
  }
  ~CleanupHeldOff() { --inside; }
  CleanupHeldOff(const CleanupHeldOff &) = delete;

  bool has_begun() const { return has_begun_; }

 private:
  bool has_begun_;
};

}  // namespace

bool libcrypto_exports(const char *name) {
  const Table *table = table_of_process();
  return table != nullptr && symbol_of(table->handle, table->object, name) != nullptr;
}

}  // namespace lanecrypt

extern "C" {

#define F(result, failure, name, parameters, arguments)            \
  result name parameters {                                         \
    const lanecrypt::Table *table = lanecrypt::table_of_process(); \
    if (table == nullptr) return failure;                          \
    return table->name arguments;                                  \
  }
#define F_UNTIL_CLEANUP(result, failure, name, parameters, arguments) \
  result name parameters {                                            \
    const lanecrypt::Table *table = lanecrypt::table_of_process();    \
    if (table == nullptr) return failure;                             \
    const lanecrypt::CleanupHeldOff cleanup;                          \
    if (cleanup.has_begun()) return failure;                          \
    return table->name arguments;                                     \
  }
#include "libcrypto/functions.inc"
#undef F

// This works at any time, because it needs no libcrypto.
void OPENSSL_cleanse(void *pointer, size_t bytes) {
  if (bytes != 0) explicit_bzero(pointer, bytes);
}

// ERR_raise() and ERR_raise_data() expand to this function.
void ERR_set_error(int lib, int reason, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  ERR_vset_error(lib, reason, format, arguments);
  va_end(arguments);
}

}  // extern "C"
