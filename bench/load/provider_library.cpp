// SPDX-License-Identifier: Apache-2.0
#include "bench/load/provider_library.h"

#include <fmt/format.h>
#include <openssl/conf.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "cli/failure.h"
#include "cli/provider_module.h"

namespace lanecrypt::bench {
namespace {

// Before 3.5, OpenSSL can pass settings to a provider only through a configuration file.
bool load_configuration(OSSL_LIB_CTX *library, const std::string &text) {
  std::string path = (std::filesystem::temp_directory_path() / "lanecrypt.XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0) cli::throw_errno("cannot make the file " + path, errno);
  const bool done = write(file, text.data(), text.size()) == ssize_t(text.size()) &&
                    OSSL_LIB_CTX_load_config(library, path.c_str()) == 1;
  close(file);
  unlink(path.c_str());
  return done;
}

}  // namespace

ProviderLibrary::ProviderLibrary(const std::string &module, const std::string &devices,
                                 const std::string &settings)
    : library_(OSSL_LIB_CTX_new()) {
  const std::string text = fmt::format(
      "openssl_conf = start\n[start]\nproviders = providers\n"
      "[providers]\ndefault = default_settings\ngpu = gpu_settings\n"
      "[default_settings]\nactivate = 1\n"
      "[gpu_settings]\nactivate = 1\nin_process = yes\nmodule = {}\ndevices = {}\n{}\n",
      cli::quoted_for_openssl(module), cli::quoted_for_openssl(devices), settings);
  ERR_clear_error();
  if (load_configuration(library_, text)) provider_ = OSSL_PROVIDER_load(library_, "gpu");
  if (provider_ != nullptr) return;
  char why[256];
  ERR_error_string_n(ERR_peek_error(), why, sizeof why);
  OSSL_LIB_CTX_free(library_);
  throw cli::Failure(cli::ExitCode::kFailed,
                     fmt::format("OpenSSL cannot load the provider from {}: {}", module, why));
}

ProviderLibrary::~ProviderLibrary() {
  OSSL_PROVIDER_unload(provider_);
  OSSL_LIB_CTX_free(library_);
}

uint64_t ProviderLibrary::counter(const char *name) const {
  uint64_t value = 0;
  OSSL_PARAM params[] = {OSSL_PARAM_uint64(name, &value), OSSL_PARAM_END};
  (void)OSSL_PROVIDER_get_params(provider_, params);
  return value;
}

}  // namespace lanecrypt::bench
