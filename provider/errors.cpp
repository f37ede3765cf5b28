// SPDX-License-Identifier: Apache-2.0
#include "provider/errors.h"

#include <openssl/err.h>

#include <cstdarg>
#include <new>

#include "provider/dispatch.h"

namespace lanecrypt::provider {
namespace {

// The core takes a pointer that is not const, but does not write through it.
void *text(const char *reason) { return const_cast<char *>(reason); }

}  // namespace

const OSSL_ITEM kReasonStrings[] = {
    {unsigned(Reason::kDeviceRequired),
     text("require_gpu is set, and this request cannot run on a device")},
    {unsigned(Reason::kDeviceFailed), text("a device failed in the middle of data in place")},
    {unsigned(Reason::kNoDefaultProvider), text("OpenSSL's default provider cannot be loaded")},
    {unsigned(Reason::kServiceRequired),
     text("service = require is set, and the service cannot do this request")},
    {unsigned(Reason::kFaultSigned), text("this signature of SLH-DSA could give its key away")},
    {0, nullptr},
};

ErrorSink::ErrorSink(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core) : handle_(handle) {
  for (; core->function_id != 0; ++core) {
    if (core->function_id == OSSL_FUNC_CORE_NEW_ERROR) new_error_ = OSSL_FUNC_core_new_error(core);
    if (core->function_id == OSSL_FUNC_CORE_VSET_ERROR)
      set_error_ = OSSL_FUNC_core_vset_error(core);
  }
}

void ErrorSink::raise(Reason reason, const char *detail) const {
  raise_packed(unsigned(reason), "%s", detail);
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
