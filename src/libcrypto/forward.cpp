// SPDX-License-Identifier: Apache-2.0
// The RSA paddings and the RAND methods are deprecated, and called here all the same.
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

// The loaded object that holds `address`. dladdr() tells it too, but searches all names
// of the object for that of the address.
struct Object {
  uintptr_t address;
  uintptr_t begin, end;
  // Of the dynamic linker, for as long as the object is loaded. "": the program itself.
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

// Set once and never freed. It has no lock, since it must work in a child of fork whose
// parent was just binding.
std::atomic<const Table *> bound{nullptr};

// dl_iterate_phdr() is C code and holds a lock, so its callbacks may not throw. They allocate
// nothing.
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

// The symbol, or nullptr where the object does not export it itself: dlsym() also looks
// into the objects that it links.
void *symbol_of(void *handle, const Object &object, const char *name) {
  void *symbol = dlsym(handle, name);
  const auto address = reinterpret_cast<uintptr_t>(symbol);
  return address >= object.begin && address < object.end ? symbol : nullptr;
}

// How many threads are inside functions that a cleanup must not overtake.
std::atomic<int> inside{0};

// OPENSSL_cleanup() calls this after it has made libcrypto_is_ending() true and before it frees
// anything. The time limit is for a thread that was killed inside.
void wait_for_threads_inside() {
  for (int n = 0; n < 1000 && inside != 0; ++n) usleep(1000);
}

// OpenSSL 4 has no OPENSSL_atexit(), and needs none: its cleanup runs when the process unloads it.
void have_cleanup_wait(const Table &table) {
  int (*at_exit)(void (*)()) = nullptr;
  void *symbol = symbol_of(table.handle, table.object, "OPENSSL_atexit");
  std::memcpy(&at_exit, &symbol, sizeof symbol);
  if (at_exit != nullptr) (void)at_exit(wait_for_threads_inside);
  (void)pthread_atfork(nullptr, nullptr, [] { inside = 0; });
}

// Binds the object. The handle is kept for good, so the object is not unloaded under the
// table.
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
    have_cleanup_wait(*table.release());  // it stays for good
  } else if (before->object.begin != object.begin) {
    return Status(LC_ERROR_UNSUPPORTED,
                  "this process has two copies of libcrypto, and Lanecrypt already works with "
                  "another than that in " +
                      path);
  }
  return Status();
}

// A copy, since another thread may unload the object.
using Path = std::array<char, PATH_MAX>;

// The path of a loaded object whose file is called libcrypto*, "" for none.
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
  // First the libcrypto that the program sees. Then one that something keeps to itself,
  // as Python's modules do. Then the system's.
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

// It arranges nothing without an option. This option changes nothing for anybody.
void begin_libcrypto() { (void)::OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CRYPTO_STRINGS, nullptr); }

// Without options it initializes nothing. OPENSSL_cleanup() makes it fail from its first step on.
// That of OpenSSL 4 only asks for a cleanup when the library itself is unloaded.
bool libcrypto_is_ending() {
  const Table *table = bound.load(std::memory_order_acquire);
  return table != nullptr && table->OPENSSL_init_crypto(0, nullptr) == 0;
}

namespace {

// nullptr where there is no libcrypto, or no memory to look for one. The functions below are called
// from destructors too, and libcrypto's do not throw.
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

// Keeps a cleanup that has not begun from freeing anything while this lives.
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

// Wipes without a libcrypto, so at any time.
void OPENSSL_cleanse(void *pointer, size_t bytes) {
  if (bytes != 0) explicit_bzero(pointer, bytes);
}

// ERR_raise() and ERR_raise_data() expand to this.
void ERR_set_error(int lib, int reason, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  ERR_vset_error(lib, reason, format, arguments);
  va_end(arguments);
}

}  // extern "C"
