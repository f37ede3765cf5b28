// Generates RSA keys by the service.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/rsa/rsa_generation_service.h"

#include <openssl/core_names.h>

#include <algorithm>
#include <new>

#include "process/cancellation.h"
#include "provider/fallback.h"
#include "provider/program_random.h"
#include "provider/service.h"
#include "service/client/generation.h"

namespace lanecrypt::provider {
namespace {

// RunOfService is the generation of one key by the service.
struct RunOfService {
  Provider &provider;
  RsaType type;
  const RsaWish &wish;
  TellProgress tell;
  void *argument;
  EVP_PKEY *made = nullptr;
  int iteration = 0;

  // 0 is the number of BN_GENCB for a candidate.
  bool goes_on() { return tell == nullptr || tell(argument, 0, iteration++) != 0; }

  bool take(const service::KeyParts &parts) {
    if (!is_as_wished(parts[service::kN], parts[service::kE])) return false;
    made = make_key_of(provider, type,
                       {{{OSSL_PKEY_PARAM_RSA_N, parts[service::kN]},
                         {OSSL_PKEY_PARAM_RSA_E, parts[service::kE]},
                         {OSSL_PKEY_PARAM_RSA_D, parts[service::kD]},
                         {OSSL_PKEY_PARAM_RSA_FACTOR1, parts[service::kP]},
                         {OSSL_PKEY_PARAM_RSA_FACTOR2, parts[service::kQ]},
                         {OSSL_PKEY_PARAM_RSA_EXPONENT1, parts[service::kDp]},
                         {OSSL_PKEY_PARAM_RSA_EXPONENT2, parts[service::kDq]},
                         {OSSL_PKEY_PARAM_RSA_COEFFICIENT1, parts[service::kQinv]}}});
    if (made != nullptr && provider.settings.verify == LC_VERIFY_FULL && !is_right()) {
      EVP_PKEY_free(made);
      made = nullptr;
    }
    return made != nullptr;
  }

 private:
  bool is_as_wished(std::span<const uint8_t> n, std::span<const uint8_t> e) const {
    const auto without_zeros = [](std::span<const uint8_t> number) {
      const auto first =
          std::find_if(number.begin(), number.end(), [](uint8_t b) { return b != 0; });
      return std::vector<uint8_t>(first, number.end());
    };
    return bits_of(without_zeros(n)) == wish.bits() && without_zeros(e) == wish.exponent();
  }
  // is_right() says whether the primes are prime, and the numbers are consistent.
  bool is_right() const {
    EVP_PKEY_CTX *const context =
        EVP_PKEY_CTX_new_from_pkey(library_of_fallback(provider), made, kFallbackProperties);
    const bool right = context != nullptr && EVP_PKEY_pairwise_check(context) == 1;
    EVP_PKEY_CTX_free(context);
    return right;
  }
};

// ask_service() has the service generate the key, if the settings require it or it is expected to
// gain. Otherwise `*why` is the reason why not.
client::Made ask_service(Provider &provider, RunOfService &run, const char **why) {
  const auto bits = uint32_t(run.wish.bits());
  client::Connection &connection = provider.service().here();
  const bool is_forced =
      provider.settings.service_is_required() || provider.settings.rsa == Settings::Use::kAlways;
  if (!is_forced && !connection.choice().is_key_worth_it(bits)) return client::Made::kNot;
  const ErrorMark mark;
  *why = "the program has a random generator of its own";
  // The service draws from its own generator.
  if (!has_usual_generator(provider.program, &provider)) return client::Made::kNot;
  const auto session = session_with_service(provider, is_forced);
  *why = session == nullptr ? "" : "the service has no room or no device to make an RSA key";
  if (session == nullptr || session->page().usable_devices == 0) return client::Made::kNot;
  const process::CancellationOff not_cancelled;
  const client::NewKeys wanted{bits,
                               run.wish.exponent(),
                               1,
                               [](void *of) { return static_cast<RunOfService *>(of)->goes_on(); },
                               [](void *of, const service::KeyParts &parts) {
                                 return static_cast<RunOfService *>(of)->take(parts);
                               },
                               &run};
  const client::Made made = client::generate(connection, wanted);
  if (made == client::Made::kFailed) *why = "the service has failed to make an RSA key";
  return made;
}

}  // namespace

GeneratedKey generate_by_service(Provider &provider, RsaType type, const RsaWish &wish,
                                 TellProgress tell, void *argument) {
  using Outcome = GeneratedKey::Outcome;
  RunOfService run{provider, type, wish, tell, argument};
  const char *why = "";
  client::Made made = client::Made::kNot;
  try {
    made = ask_service(provider, run, &why);
  } catch (const std::bad_alloc &) {
    why = "no memory";
  }
  tell_loss(provider);
  if (made == client::Made::kMade) {
    provider.counters.count(Count::kRsaDeviceKeys);
    return {Outcome::kMade, run.made};
  }
  EVP_PKEY_free(run.made);
  if (made == client::Made::kStopped) return {Outcome::kFailed, nullptr};
  const bool is_required = provider.settings.service_is_required();
  if (made == client::Made::kFailed || is_required) provider.counters.count(Count::kRsaFailures);
  if (!is_required) return {};
  raise_service_required(provider, why);
  return {Outcome::kFailed, nullptr};
}

}  // namespace lanecrypt::provider
