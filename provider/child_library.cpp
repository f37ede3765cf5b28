// Creates the provider's child library context. A child library context registers callbacks with
// the core for providers that are loaded and unloaded, and deregisters them when it is freed. If
// the program has freed its own library context by then, the deregistration makes the core read
// freed memory. Therefore `new_child_library()` replaces both core functions in the dispatch table:
// the core's callbacks carry a number, callbacks with an unknown or retired number are ignored, and
// deregistration only retires the number. The core's list of callbacks is freed with the program's
// library context.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/child_library.h"

#include <openssl/core_dispatch.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <vector>

#include "provider/dispatch.h"

namespace lanecrypt::provider {
namespace {

using Told = int(const OSSL_CORE_HANDLE *provider, void *argument);
using ToldProperties = int(const char *properties, void *argument);

// Listener holds the callbacks that one child context registered. Listeners are never freed but
// reused. The list is lock-free, because a child of fork() could inherit a lock in the locked
// state.
struct Listener {
  std::atomic<uintptr_t> number{0};  // 0 if the listener is free
  const OSSL_CORE_HANDLE *handle = nullptr;
  Told *create = nullptr, *remove = nullptr;
  ToldProperties *properties = nullptr;
  void *argument = nullptr;
  Listener *next = nullptr;
};
std::atomic<Listener *> listeners{nullptr};
std::atomic<uintptr_t> last_number{0};
// register_with_core is the core's own OSSL_FUNC_provider_register_child_cb.
std::atomic<OSSL_FUNC_provider_register_child_cb_fn *> register_with_core{nullptr};

Listener *take_listener() {
  const uintptr_t number = ++last_number;
  for (Listener *one = listeners; one != nullptr; one = one->next)
    if (uintptr_t none = 0; one->number.compare_exchange_strong(none, number)) return one;
  auto *const made = new (std::nothrow) Listener;
  if (made == nullptr) return nullptr;
  made->number = number;
  made->next = listeners;
  while (!listeners.compare_exchange_weak(made->next, made)) {
  }
  return made;
}

Listener *find_listener(void *number) {
  for (Listener *one = listeners; one != nullptr; one = one->next)
    if (one->number == reinterpret_cast<uintptr_t>(number)) return one;
  return nullptr;
}

int tell_create(const OSSL_CORE_HANDLE *provider, void *number) {
  const Listener *to = find_listener(number);
  return to == nullptr ? 1 : to->create(provider, to->argument);
}
int tell_remove(const OSSL_CORE_HANDLE *provider, void *number) {
  const Listener *to = find_listener(number);
  return to == nullptr ? 1 : to->remove(provider, to->argument);
}
int tell_properties(const char *properties, void *number) {
  const Listener *to = find_listener(number);
  return to == nullptr ? 1 : to->properties(properties, to->argument);
}

// begin_to_listen() and end_listening() replace the core's functions of the same signatures in the
// dispatch table that the child context receives.
int begin_to_listen(const OSSL_CORE_HANDLE *handle, Told *create, Told *remove,
                    ToldProperties *properties, void *argument) {
  Listener *const made = take_listener();
  if (made == nullptr) return 0;
  made->handle = handle;
  made->create = create;
  made->remove = remove;
  made->properties = properties;
  made->argument = argument;
  if (register_with_core.load()(handle, tell_create, tell_remove, tell_properties,
                                reinterpret_cast<void *>(made->number.load())) == 1)
    return 1;
  made->number = 0;
  return 0;
}
void end_listening(const OSSL_CORE_HANDLE *handle) {
  for (Listener *one = listeners; one != nullptr; one = one->next)
    if (one->number != 0 && one->handle == handle) one->number = 0;
}

}  // namespace

OSSL_LIB_CTX *new_child_library(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core) {
  OSSL_FUNC_provider_deregister_child_cb_fn *deregister_from_core = nullptr;
  try {
    std::vector<OSSL_DISPATCH> functions;
    for (; core->function_id != 0; ++core) {
      functions.push_back(*core);
      OSSL_DISPATCH &copy = functions.back();
      if (copy.function_id == OSSL_FUNC_PROVIDER_REGISTER_CHILD_CB) {
        register_with_core = OSSL_FUNC_provider_register_child_cb(core);
        copy.function = reinterpret_cast<Function>(called_from_c<begin_to_listen>);
      } else if (copy.function_id == OSSL_FUNC_PROVIDER_DEREGISTER_CHILD_CB) {
        deregister_from_core = OSSL_FUNC_provider_deregister_child_cb(core);
        copy.function = reinterpret_cast<Function>(called_from_c<end_listening>);
      }
    }
    functions.push_back({0, nullptr});
    OSSL_LIB_CTX *const made = OSSL_LIB_CTX_new_child(handle, functions.data());
    // The core frees a provider that fails to load, and another provider may then get the same
    // address. The core must not keep callbacks of this one.
    if (made == nullptr && deregister_from_core != nullptr) deregister_from_core(handle);
    return made;
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

}  // namespace lanecrypt::provider
