// Generates RSA keys on a device.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/rsa/rsa_generation.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <new>
#include <span>
#include <string>

#include "provider/device_health.h"
#include "provider/dispatch.h"
#include "provider/fallback.h"
#include "provider/program_random.h"
#include "provider/refusal.h"
#include "provider/rsa/rsa_generation_service.h"
#include "secure/key_memory.h"

namespace lanecrypt::provider {
namespace {

// FIPS 186-5, appendix A.1.1. OpenSSL decides whether shorter exponents are allowed.
constexpr size_t kLeastExponentBits = 17, kMostExponentBits = 256;

// has_selected_device() says whether the settings select any device. Selected devices come first,
// so device 0 is then one of them.
bool has_selected_device(Provider &provider) {
  lc_device_info info{};
  info.struct_size = sizeof info;
  return lc_device_get(provider.devices(), 0, &info) == LC_OK && info.selected != 0;
}

// Run is one call of lc_rsa_generate().
struct Run {
  Provider &provider;
  RsaType type;
  TellProgress tell;
  void *argument;
  EVP_PKEY *made = nullptr;
  bool is_stopped = false;
  int iteration = 0;
  uint64_t primes = 0;

  int hear(const lc_rsa_progress &progress) {
    // The first number is that of BN_GENCB: 0 for a candidate, 3 for a prime of the key.
    bool goes_on = tell == nullptr || tell(argument, 0, iteration++) != 0;
    for (; goes_on && primes < std::min<uint64_t>(progress.primes, 2); ++primes)
      goes_on = tell == nullptr || tell(argument, 3, int(primes)) != 0;
    is_stopped = !goes_on;
    return goes_on ? 1 : 0;
  }

  int take(const lc_rsa_parts &parts) {
    const auto number = [](const char *name, const lc_number &of) {
      return NamedNumber{name, {static_cast<const uint8_t *>(of.bytes), of.length}};
    };
    made = make_key_of(
        provider, type,
        {{number(OSSL_PKEY_PARAM_RSA_N, parts.n), number(OSSL_PKEY_PARAM_RSA_E, parts.e),
          number(OSSL_PKEY_PARAM_RSA_D, parts.d), number(OSSL_PKEY_PARAM_RSA_FACTOR1, parts.p),
          number(OSSL_PKEY_PARAM_RSA_FACTOR2, parts.q),
          number(OSSL_PKEY_PARAM_RSA_EXPONENT1, parts.dp),
          number(OSSL_PKEY_PARAM_RSA_EXPONENT2, parts.dq),
          number(OSSL_PKEY_PARAM_RSA_COEFFICIENT1, parts.qinv)}});
    return made != nullptr ? 1 : 0;
  }
};

}  // namespace

size_t bits_of(std::span<const uint8_t> number) {
  return number.empty() ? 0 : 8 * number.size() - size_t(std::countl_zero(number[0]));
}

EVP_PKEY *make_key_of(Provider &provider, RsaType type, const NumbersOfKey &numbers) {
  size_t bytes = 0;
  for (const NamedNumber &number : numbers) bytes += number.bytes.size();
  secure::KeyMemory memory(bytes);
  if (!memory.ok(bytes)) return nullptr;
  OSSL_PARAM params[std::tuple_size_v<NumbersOfKey> + 1];
  uint8_t *to = memory.data();
  for (size_t n = 0; n < numbers.size(); ++n) {
    const std::span<const uint8_t> from = numbers[n].bytes;
    // OpenSSL's parameters are in native byte order.
    static_assert(std::endian::native == std::endian::little);
    std::reverse_copy(from.begin(), from.end(), to);
    params[n] = OSSL_PARAM OSSL_PARAM_BN(numbers[n].name, to, from.size());
    to += from.size();
  }
  params[numbers.size()] = OSSL_PARAM OSSL_PARAM_END;
  return make_fallback_rsa_key(provider, type, EVP_PKEY_KEYPAIR, params);
}

void RsaWish::read(const OSSL_PARAM params[]) {
  for (; params != nullptr && params->key != nullptr; ++params) {
    if (std::strcmp(params->key, OSSL_PKEY_PARAM_RSA_BITS) == 0) {
      is_plain_ &= OSSL_PARAM_get_size_t(params, &bits_) == 1;
    } else if (std::strcmp(params->key, OSSL_PKEY_PARAM_RSA_PRIMES) == 0) {
      is_plain_ &= OSSL_PARAM_get_size_t(params, &primes_) == 1;
    } else if (std::strcmp(params->key, OSSL_PKEY_PARAM_RSA_E) == 0) {
      const auto *from = static_cast<const uint8_t *>(params->data);
      is_plain_ &= params->data_type == OSSL_PARAM_UNSIGNED_INTEGER && from != nullptr;
      size_t length = from == nullptr ? 0 : params->data_size;
      while (length > 0 && from[length - 1] == 0) --length;
      exponent_.assign(std::reverse_iterator(from + length), std::reverse_iterator(from));
    } else {
      // Restrictions of RSA-PSS, and parameters that OpenSSL's own tests use.
      is_plain_ = false;
    }
  }
}

bool RsaWish::suits_device() const {
  return is_plain_ && primes_ == 2 && bits_ >= kLeastRsaBits && bits_ <= kMostRsaBits &&
         bits_ % 2 == 0 && bits_of(exponent_) >= kLeastExponentBits &&
         bits_of(exponent_) <= kMostExponentBits && exponent_.back() % 2 == 1;
}

namespace {

GeneratedKey generate_on_device(Provider &provider, RsaType type, const RsaWish &wish,
                                TellProgress tell, void *argument) {
  GeneratedKey result;
  const Settings &settings = provider.settings;
  const bool is_forced = settings.require_gpu || settings.rsa == Settings::Use::kAlways;
  if (!settings.require_gpu && !provider.may_use_devices()) return result;
  if (!is_forced && !lc_rsa_generation_prefers_device(provider.devices(), uint32_t(wish.bits())))
    return result;
  provider.asked_devices.store(true, std::memory_order_relaxed);

  if (is_forced && !has_selected_device(provider)) {
    if (!settings.require_gpu) return result;
    provider.counters.count(Count::kRsaFailures);
    provider.errors.raise(Reason::kDeviceRequired,
                          provider.why_no_devices("no usable device to make an RSA key"));
    result.outcome = GeneratedKey::Outcome::kFailed;
    return result;
  }

  struct Call {
    Run run;
    PrivateGenerator random;
  } call{{provider, type, tell, argument}, PrivateGenerator(provider.program)};
  lc_rsa_generation generation{};
  generation.struct_size = sizeof generation;
  generation.bits = uint32_t(wish.bits());
  generation.exponent = {wish.exponent().data(), wish.exponent().size()};
  generation.count = 1;
  // If a device must be used, this waits for it.
  generation.device = is_forced ? 0 : LC_ANY_DEVICE;
  generation.has_device = 1;
  // The library calls both callbacks on this thread. Their code may use the thread's generator, so
  // the generator is paused for other threads.
  constexpr auto on_key = [](void *of, uint64_t, const lc_rsa_parts *parts) {
    const auto pause = static_cast<Call *>(of)->random.pause();
    return static_cast<Call *>(of)->run.take(*parts);
  };
  constexpr auto on_progress = [](void *of, const lc_rsa_progress *progress) {
    const auto pause = static_cast<Call *>(of)->random.pause();
    return static_cast<Call *>(of)->run.hear(*progress);
  };
  constexpr auto random = [](void *of, void *to, size_t bytes) {
    return static_cast<Call *>(of)->random.fill(to, bytes) ? 1 : 0;
  };
  generation.on_key = called_from_c<on_key>;
  generation.on_progress = called_from_c<on_progress>;
  generation.random = called_from_c<random>;
  generation.argument = &call;
  lc_result told{};
  told.struct_size = sizeof told;
  const lc_status status = lc_rsa_generate(provider.devices(), &generation, &told);
  const std::string why = status == LC_OK ? "" : lc_last_error();
  if (status != LC_OK || told.cpu_operations > 0 || told.failed_devices > 0 ||
      told.failed_checks > 0)
    (void)check_device_health(provider);
  if (told.failed_checks > 0) provider.counters.count(Count::kRsaFailures);
  result.key = call.run.made;
  if (status == LC_OK && result.key != nullptr) {
    // If no operation ran at all, the primes come from the pool of an earlier search on a device.
    if (told.device_operations > 0 || told.cpu_operations == 0)
      provider.counters.count(Count::kRsaDeviceKeys);
    else
      provider.counters.count(Count::kRsaCpuKeys);
    result.outcome = GeneratedKey::Outcome::kMade;
    return result;
  }
  EVP_PKEY_free(result.key);
  result.key = nullptr;
  if (call.run.is_stopped) {
    result.outcome = GeneratedKey::Outcome::kFailed;
    return result;
  }
  provider.counters.count(Count::kRsaFailures);
  if (!settings.require_gpu) return result;
  result.outcome = GeneratedKey::Outcome::kFailed;
  provider.errors.raise(Reason::kDeviceRequired, why.c_str());
  return result;
}

}  // namespace

GeneratedKey generate_rsa_key(Provider &provider, RsaType type, const RsaWish &wish,
                              TellProgress tell, void *argument) {
  if (!wish.suits_device()) return {};
  const auto generate =
      provider.settings.rsa_is_of_service() ? generate_by_service : generate_on_device;
  return generate(provider, type, wish, tell, argument);
}

EVP_PKEY *make_fallback_rsa_key(Provider &provider, RsaType type, int selection,
                                const OSSL_PARAM params[]) {
  if (fallback_rsa_keymgmt(provider, type == RsaType::kRsaPss) == nullptr) return nullptr;
  const unsigned long before = ERR_peek_last_error();
  EVP_PKEY *made = nullptr;
  EVP_PKEY_CTX *context =
      EVP_PKEY_CTX_new_from_name(library_of_fallback(provider), name_of(type), kFallbackProperties);
  // EVP_PKEY_fromdata() only reads the parameters.
  if (context == nullptr || EVP_PKEY_fromdata_init(context) != 1 ||
      EVP_PKEY_fromdata(context, &made, selection, const_cast<OSSL_PARAM *>(params)) != 1) {
    EVP_PKEY_free(made);
    made = nullptr;
    say_why(before, PROV_R_INVALID_KEY);
  }
  EVP_PKEY_CTX_free(context);
  return made;
}

}  // namespace lanecrypt::provider
