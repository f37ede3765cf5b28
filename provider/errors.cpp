// Raises the provider's errors.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/errors.h"

#include <openssl/err.h>

#include <atomic>
#include <cstdarg>
#include <iterator>
#include <new>

#include "provider/dispatch.h"

namespace lanecrypt::provider {
namespace {

// kTexts is indexed by Reason. The first text names the error library.
constexpr const char *kTexts[] = {
    "gpu",
    "require_gpu is set, and this request cannot run on a device",
    "a device failed in the middle of data in place",
    "OpenSSL's default provider cannot be loaded",
    "service = require is set, and the service cannot do this request",
    "this signature of SLH-DSA could give its key away",
};
static_assert(std::size(kTexts) == unsigned(Reason::kFaultSigned) + 1);

// library_number is the library number that libcrypto assigned to the provider's errors; 0 if none
// is assigned yet. The module and its strings stay loaded until the process ends, so the number
// stays valid. It is atomic and has no lock, because a child of fork() could inherit a lock in the
// locked state.
std::atomic<int> library_number{0};

// An error code has no bits for a library number above this one.
constexpr int kLastLibrary = 255;

}  // namespace

void load_reason_strings() {
  static ERR_STRING_DATA strings[std::size(kTexts) + 1];
  int number = library_number.load();
  if (number != 0) return;
  const int made = ERR_get_next_error_library();
  if (!library_number.compare_exchange_strong(number, made) || made > kLastLibrary) return;
  for (size_t n = 0; n < std::size(kTexts); ++n)
    strings[n] = {(unsigned long)ERR_PACK(made, 0, n), kTexts[n]};
  (void)ERR_load_strings_const(strings);
}

ErrorSink::ErrorSink(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core) : handle_(handle) {
  for (; core->function_id != 0; ++core) {
    if (core->function_id == OSSL_FUNC_CORE_NEW_ERROR) new_error_ = OSSL_FUNC_core_new_error(core);
    if (core->function_id == OSSL_FUNC_CORE_VSET_ERROR)
      set_error_ = OSSL_FUNC_core_vset_error(core);
  }
}

void ErrorSink::raise(Reason reason, const char *detail) const {
  const int number = library_number.load();
  if (number > 0 && number <= kLastLibrary)
    return raise_packed(unsigned(ERR_PACK(number, 0, unsigned(reason))), "%s", detail);
  raise_packed(unsigned(ERR_PACK(ERR_LIB_PROV, 0, ERR_R_OPERATION_FAIL)), "provider gpu: %s: %s",
               kTexts[unsigned(reason)], detail);
}

void ErrorSink::raise_while_loading(const char *detail) const {
  raise_packed(unsigned(ERR_PACK(ERR_LIB_PROV, 0, ERR_R_INIT_FAIL)), "provider gpu: %s", detail);
}

void ErrorSink::raise_packed(unsigned reason, const char *format, ...) const {
  if (new_error_ == nullptr || set_error_ == nullptr) return;
  new_error_(handle_);
  va_list arguments;
  va_start(arguments, format);
  set_error_(handle_, reason, format, arguments);
  va_end(arguments);
}

void raise_exception(const std::exception &error) noexcept {
  const bool is_memory = dynamic_cast<const std::bad_alloc *>(&error) != nullptr;
  ERR_raise_data(ERR_LIB_PROV, is_memory ? ERR_R_MALLOC_FAILURE : ERR_R_INTERNAL_ERROR, "%s",
                 error.what());
}

}  // namespace lanecrypt::provider
