// The provider's own error reasons. Errors that OpenSSL's ciphers raise too are raised as theirs,
// by ERR_raise(ERR_LIB_PROV, PROV_R_...).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

namespace lanecrypt::provider {

// Reason numbers the errors that applications may see in ERR_GET_REASON().
enum class Reason : unsigned {
  kDeviceRequired = 1,     // require_gpu is set, and no device could do the request
  kDeviceFailed = 2,       // a device failed after it had overwritten input in place
  kNoDefaultProvider = 3,  // nothing can do the CPU's part
  kServiceRequired = 4,    // service = require is set, and the service could not do the request
  kFaultSigned = 5         // an SLH-DSA signature that could reveal its private key
};

// load_reason_strings() registers the texts of the reasons with libcrypto, once per process. A
// program that prints only the reason of an error, and not its data, then still says what is wrong.
// The reasons have their own library number. If a provider offers its reasons by
// OSSL_FUNC_provider_get_reason_strings, OpenSSL 3 removes them with the provider, and crashes if
// the provider is freed after OPENSSL_cleanup().
void load_reason_strings();

// ErrorSink raises errors through the core's functions, which the core passes when it loads the
// provider. It works before libcrypto is bound (forward.h).
class ErrorSink {
 public:
  ErrorSink() = default;
  ErrorSink(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core);

  // raise() adds an error to the error queue, with `detail` as its data.
  void raise(Reason reason, const char *detail) const;
  // raise_while_loading() raises an error during OSSL_provider_init(), before the reasons above are
  // registered.
  void raise_while_loading(const char *detail) const;

 private:
  void raise_packed(unsigned reason, const char *format, ...) const;
  const OSSL_CORE_HANDLE *handle_ = nullptr;
  OSSL_FUNC_core_new_error_fn *new_error_ = nullptr;
  OSSL_FUNC_core_vset_error_fn *set_error_ = nullptr;
};

}  // namespace lanecrypt::provider
