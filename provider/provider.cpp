// The provider as OpenSSL loads it: OSSL_provider_init(), its settings, its counters and its
// algorithms.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/provider.h"

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/proverr.h>
#include <openssl/provider.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>

#include "libcrypto/forward.h"
#include "process/cancellation.h"
#include "provider/child_library.h"
#include "provider/cipher/algorithms.h"
#include "provider/cipher/fallback_cipher.h"
#include "provider/dispatch.h"
#include "provider/fallback.h"
#include "provider/pq/pq_operations.h"
#include "provider/program_random.h"
#include "provider/rsa/rsa_operations.h"
#include "provider/statistics.h"

namespace lanecrypt::provider {
namespace {

constexpr char kDevicesParam[] = "lanecrypt.devices";
// kRemovedCounters are counters that no longer exist. Programs that still query them read 0, for
// one release.
constexpr const char *kRemovedCounters[] = {"lanecrypt.keystream-bytes",
                                            "lanecrypt.keystream-wasted-bytes"};

constexpr OSSL_PARAM kFirst[] = {
    {OSSL_PROV_PARAM_NAME, OSSL_PARAM_UTF8_PTR, nullptr, 0, 0},
    {OSSL_PROV_PARAM_VERSION, OSSL_PARAM_UTF8_PTR, nullptr, 0, 0},
    {OSSL_PROV_PARAM_BUILDINFO, OSSL_PARAM_UTF8_PTR, nullptr, 0, 0},
    {OSSL_PROV_PARAM_STATUS, OSSL_PARAM_INTEGER, nullptr, sizeof(int), 0},
};

// make_gettable() lists kFirst, the counters, the devices and the terminator.
constexpr auto make_gettable() {
  std::array<OSSL_PARAM, std::size(kFirst) + kCountCount + 2> all{};
  size_t n = 0;
  for (const OSSL_PARAM &param : kFirst) all[n++] = param;
  for (const CountRow &row : kCounts)
    all[n++] = {row.param, OSSL_PARAM_UNSIGNED_INTEGER, nullptr, sizeof(uint64_t), 0};
  all[n++] = {kDevicesParam, OSSL_PARAM_UTF8_STRING, nullptr, 0, 0};
  return all;
}
constexpr auto kGettable = make_gettable();

const OSSL_PARAM *gettable_params(void *) { return kGettable.data(); }

int get_params(void *pointer, OSSL_PARAM params[]) {
  Provider &provider = *static_cast<Provider *>(pointer);
  const std::pair<const char *, const char *> texts[] = {
      {OSSL_PROV_PARAM_NAME,
       "Lanecrypt block ciphers, ChaCha20, RSA, ML-DSA and SLH-DSA on graphics processors"},
      {OSSL_PROV_PARAM_VERSION, LC_VERSION_TEXT},
      {OSSL_PROV_PARAM_BUILDINFO, LC_VERSION_TEXT},
  };
  for (const auto &[name, text] : texts)
    if (OSSL_PARAM *param = OSSL_PARAM_locate(params, name);
        param != nullptr && !OSSL_PARAM_set_utf8_ptr(param, text))
      return 0;
  if (OSSL_PARAM *param = OSSL_PARAM_locate(params, OSSL_PROV_PARAM_STATUS);
      param != nullptr && !OSSL_PARAM_set_int(param, 1))
    return 0;
  const Totals totals = provider.counters.totals();
  for (const CountRow &row : kCounts)
    if (OSSL_PARAM *param = OSSL_PARAM_locate(params, row.param);
        param != nullptr && !OSSL_PARAM_set_uint64(param, totals[size_t(row.count)]))
      return 0;
  for (const char *name : kRemovedCounters)
    if (OSSL_PARAM *param = OSSL_PARAM_locate(params, name);
        param != nullptr && !OSSL_PARAM_set_uint64(param, 0))
      return 0;
  if (OSSL_PARAM *param = OSSL_PARAM_locate(params, kDevicesParam); param != nullptr) {
    if (!OSSL_PARAM_set_utf8_string(param, devices_json(provider).c_str())) return 0;
  }
  return 1;
}

bool offers_ml_dsa(const Settings &settings) {
  return settings.offers_ml_dsa() && libcrypto_has_pq();
}
bool offers_slh_dsa(const Settings &settings) {
  return settings.offers_slh_dsa() && libcrypto_has_pq();
}

// PublicKeyLists holds, for every combination of RSA, ML-DSA and SLH-DSA, the concatenation of
// their algorithm lists.
class PublicKeyLists {
 public:
  PublicKeyLists(const OSSL_ALGORITHM *rsa, const OSSL_ALGORITHM *ml_dsa,
                 const OSSL_ALGORITHM *slh_dsa) {
    const OSSL_ALGORITHM *const lists[] = {rsa, ml_dsa, slh_dsa};
    for (size_t which = 0; which < std::size(all_); ++which) {
      size_t count = 0;
      for (size_t n = 0; n < std::size(lists); ++n)
        for (const OSSL_ALGORITHM *from = lists[n];
             (which >> n & 1) != 0 && from->algorithm_names != nullptr; ++from)
          all_[which].at(count++) = *from;
    }
  }
  // of() returns the list for these settings, or nullptr if none of the three is offered.
  const OSSL_ALGORITHM *of(const Settings &settings) const {
    const size_t which = (settings.offers_rsa() ? 1 : 0) + (offers_ml_dsa(settings) ? 2 : 0) +
                         (offers_slh_dsa(settings) ? 4 : 0);
    return which == 0 ? nullptr : all_[which].data();
  }

 private:
  // The unused rows of each list are zero and terminate it.
  std::array<OSSL_ALGORITHM, 48> all_[8] = {};
};

const OSSL_ALGORITHM *key_operations(const Settings &settings) {
  static const PublicKeyLists kLists(kRsaKeymgmtOperations, kMlDsaKeymgmtOperations,
                                     kSlhDsaKeymgmtOperations);
  return kLists.of(settings);
}

const OSSL_ALGORITHM *signature_operations(const Settings &settings) {
  static const PublicKeyLists kLists(kRsaSignatureOperations, kMlDsaSignatureOperations,
                                     kSlhDsaSignatureOperations);
  return kLists.of(settings);
}

const OSSL_ALGORITHM *encoder_operations(const Settings &settings) {
  static const PublicKeyLists kLists(kRsaEncoderOperations, kMlDsaEncoderOperations,
                                     kSlhDsaEncoderOperations);
  return kLists.of(settings);
}

int get_capabilities(void *pointer, const char *capability, OSSL_CALLBACK *callback,
                     void *argument) {
  Provider &provider = *static_cast<Provider *>(pointer);
  if (strcasecmp(capability, "TLS-SIGALG") != 0 || !offers_ml_dsa(provider.settings)) return 1;
  return tell_tls_sigalgs(provider, callback, argument);
}

const OSSL_ALGORITHM *query_operation(void *pointer, int operation, int *no_cache) {
  *no_cache = 0;
  const Settings &settings = static_cast<Provider *>(pointer)->settings;
  if (operation == OSSL_OP_CIPHER) return settings.offers_ciphers() ? cipher_operations() : nullptr;
  switch (operation) {
    case OSSL_OP_KEYMGMT:
      return key_operations(settings);
    case OSSL_OP_SIGNATURE:
      return signature_operations(settings);
    case OSSL_OP_ENCODER:
      return encoder_operations(settings);
    case OSSL_OP_DECODER:
      return offers_ml_dsa(settings) ? kMlDsaDecoderOperations : nullptr;
    case OSSL_OP_ASYM_CIPHER:
      return settings.offers_rsa() ? kRsaCipherOperations : nullptr;
    default:
      return nullptr;
  }
}

void destroy(Provider *provider, bool close_devices) {
  if (lc_context *context = provider->context; context != nullptr && close_devices)
    lc_close(context);
  if (close_devices) {
    const process::CancellationOff not_cancelled;
    delete provider->service_client.load();
  }
  release_fallback_ciphers(*provider);
  end_fallback(*provider);
  std::free(provider->no_device);
  delete provider;
}

void teardown(void *pointer) {
  Provider *provider = static_cast<Provider *>(pointer);
  destroy(provider, strike_off(*provider));
}

const OSSL_DISPATCH kFunctions[] = {
    {OSSL_FUNC_PROVIDER_TEARDOWN, reinterpret_cast<Function>(called_from_c<teardown>)},
    {OSSL_FUNC_PROVIDER_GETTABLE_PARAMS,
     reinterpret_cast<Function>(called_from_c<gettable_params>)},
    {OSSL_FUNC_PROVIDER_GET_PARAMS, reinterpret_cast<Function>(called_from_c<get_params>)},
    {OSSL_FUNC_PROVIDER_GET_CAPABILITIES,
     reinterpret_cast<Function>(called_from_c<get_capabilities>)},
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION,
     reinterpret_cast<Function>(called_from_c<query_operation>)},
    {0, nullptr},
};

Result<Provider *> create(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core) {
  Result<Settings> settings = read_settings(handle, core);
  if (!settings.ok()) return settings.status();
  const auto discard = [](Provider *provider) { destroy(provider, true); };
  std::unique_ptr<Provider, decltype(discard)> provider(new Provider, discard);
  provider->settings = std::move(*settings);
  if (provider->settings.in_process || provider->settings.cores > 1 ||
      provider->settings.rsa_is_of_service() || provider->settings.ml_dsa_is_of_service() ||
      provider->settings.slh_dsa_is_of_service() || !provider->settings.stats_file.empty())
    provider->sandbox.emplace();
  load_reason_strings();
  provider->errors = ErrorSink(handle, core);

  provider->program = library_of_program(handle, core);
  provider->fallback = new_child_library(handle, core);
  if (provider->fallback == nullptr)
    return Status(LC_ERROR_MEMORY, "cannot make a library context for OpenSSL's own ciphers");
  enlist(*provider);
  return provider.release();
}

}  // namespace

}  // namespace lanecrypt::provider

extern "C" __attribute__((visibility("default"))) int OSSL_provider_init(
    const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in, const OSSL_DISPATCH **out,
    void **provider_context) {
  using namespace lanecrypt;
  if (in == nullptr || in->function_id == 0) return 0;
  const provider::ErrorSink errors(handle, in);
  try {
    // The loading libcrypto must be identified before the first function of libcrypto is called.
    const Status bound = bind_libcrypto_of(reinterpret_cast<const void *>(in->function));
    if (!bound.ok()) {
      errors.raise_while_loading(bound.text().c_str());
      return 0;
    }
    Result<provider::Provider *> provider = provider::create(handle, in);
    if (!provider.ok()) {
      errors.raise_while_loading(provider.status().text().c_str());
      return 0;
    }
    *provider_context = *provider;
    *out = provider::kFunctions;
    return 1;
  } catch (const std::exception &error) {
    errors.raise_while_loading(error.what());
    return 0;
  }
}
