// An OpenSSL library context with the provider `gpu`, to measure through EVP.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/provider.h>

#include <cstdint>
#include <string>

namespace lanecrypt::bench {

// The note to log if find_provider_module() finds no module.
inline constexpr char kNoProvider[] =
    "what the provider does through EVP is left out: no gpu.so lies where it is built or "
    "installed (see --module)";

class ProviderLibrary {
 public:
  // Loads the provider with the setting `devices` of lanecrypt-provider(7) and with other
  // settings in the form of a configuration file, such as "rsa = always". Throws Failure
  // (kFailed) if the module cannot be loaded.
  ProviderLibrary(const std::string &module, const std::string &devices,
                  const std::string &settings);
  ~ProviderLibrary();
  ProviderLibrary(const ProviderLibrary &) = delete;
  ProviderLibrary &operator=(const ProviderLibrary &) = delete;

  OSSL_LIB_CTX *get() const { return library_; }
  // A counter of the provider, such as lanecrypt.rsa-device-jobs.
  uint64_t counter(const char *name) const;

 private:
  OSSL_LIB_CTX *library_;
  OSSL_PROVIDER *provider_ = nullptr;
};

}  // namespace lanecrypt::bench
