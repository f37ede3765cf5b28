// The provider's own errors. Errors that OpenSSL's ciphers have too are raised as theirs,
// by ERR_raise(ERR_LIB_PROV, PROV_R_...).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

namespace lanecrypt::provider {

// Numbers that applications may see in ERR_GET_REASON().
enum class Reason : unsigned {
  kDeviceRequired = 1,     // require_gpu, and no device could do the request
  kDeviceFailed = 2,       // in the middle of data in place
  kNoDefaultProvider = 3,  // nothing can do the CPU's part
  kServiceRequired = 4,    // service = require, and the service could not do the request
  kFaultSigned = 5         // a signature of SLH-DSA that could give its key away
};

// Gives libcrypto the texts of the reasons, once in a process. With these a program that prints
// only an error's reason, and not its data, still says what is wrong. They have a library number
// of their own: if a provider offers its reasons by OSSL_FUNC_provider_get_reason_strings, OpenSSL
// 3 removes them with the provider, and crashes if that is freed after OPENSSL_cleanup().
void load_reason_strings();

// The core's functions for errors, which it told when the provider was loaded. It needs
// no libcrypto to be bound.
class ErrorSink {
 public:
  ErrorSink() = default;
  ErrorSink(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core);

  // `detail` becomes the error's data.
  void raise(Reason reason, const char *detail) const;
  // For errors while the provider loads, when the core does not know the reasons above.
  void raise_while_loading(const char *detail) const;

 private:
  void raise_packed(unsigned reason, const char *format, ...) const;
  const OSSL_CORE_HANDLE *handle_ = nullptr;
  OSSL_FUNC_core_new_error_fn *new_error_ = nullptr;
  OSSL_FUNC_core_vset_error_fn *set_error_ = nullptr;
};

}  // namespace lanecrypt::provider
