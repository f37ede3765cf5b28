// SPDX-License-Identifier: Apache-2.0
#include "provider/rsa/rsa_service.h"

#include <syslog.h>

#include <new>

#include "process/cancellation.h"
#include "provider/rsa/rsa_device.h"
#include "provider/wait/for_service.h"
#include "provider/wait/jobs.h"

namespace lanecrypt::provider {

std::shared_ptr<client::Session> session_with_service(Provider &provider, bool waits) {
  if (!provider.may_use_service()) return nullptr;
  const process::CancellationOff not_cancelled;
  return provider.service().here().connect(waits);
}

void tell_loss(Provider &provider) {
  client::Connection &connection = provider.service().here();
  if (!connection.take_loss() || provider.is_sandboxed()) return;
  const process::CancellationOff not_cancelled;
  syslog(LOG_USER | LOG_WARNING,
         "lanecrypt: the service at %s does not answer; RSA runs on this process's own cores until "
         "it does",
         connection.path().c_str());
}

void raise_service_required(Provider &provider, const char *why) {
  std::string reason = why;
  if (reason.empty())
    reason = provider.may_use_service() ? provider.service().here().why()
                                        : "the process has sandboxed itself";
  provider.errors.raise(Reason::kServiceRequired, reason.c_str());
}

void RsaOperation::choose_service() {
  Provider &provider = key_.provider();
  const Settings &settings = provider.settings;
  const bool is_required = settings.service_is_required();
  try {
    if (!is_required && settings.rsa != Settings::Use::kAlways) return choose_service_if_sooner();
    const char *why = "no device takes this RSA key";
    if (has_device_length() && key_.may_suit_device()) {
      const std::shared_ptr<client::Session> session = session_with_service(provider, true);
      if (session != nullptr) service_key_ = key_.for_service();
      if (session == nullptr) why = "";
    }
    tell_loss(provider);
    if (service_key_ != nullptr || !is_required) return;
    may_go_on_ = false;
    provider.counters.count(Count::kRsaFailures);
    raise_service_required(provider, why);
  } catch (const std::bad_alloc &) {
    service_key_ = nullptr;
    may_go_on_ = !is_required;
  }
}

// Costs no system call until the process may gain.
void RsaOperation::choose_service_if_sooner() {
  if (!has_device_length() || !key_.may_suit_device()) return;
  Provider &provider = key_.provider();
  const auto bits = uint32_t(key_.bits());
  const uint32_t in_line = operations_in_line_for_service();
  client::Connection &connection = provider.service().here();
  client::Choice &choice = connection.choice();
  const bool is_worth_it = choice.is_worth_connecting(in_line);
  std::shared_ptr<client::Session> session = connection.session();
  if (session == nullptr && is_worth_it && connection.may_connect())
    session = session_with_service(provider, false);
  if (session == nullptr) return stays_on_cpu();
  if (choice.wants_look(*session) && provider.may_use_service()) session->look_again();
  if (choice.is_service_sooner(bits, in_line)) {
    if (provider.may_use_service()) service_key_ = key_.for_service();
    if (service_key_ == nullptr) stays_on_cpu();
    return;
  }
  stays_on_cpu();
  is_counted_ = true;
  service_choice_ = &choice;
  began_ = std::chrono::steady_clock::now();
}

RsaTaken RsaOperation::run_on_service(const uint8_t *in, uint8_t *out) {
  Provider &provider = key_.provider();
  const std::span<const uint8_t> input{in, key_.bytes()};
  const std::span<uint8_t> output{out, key_.bytes()};
  client::Taken taken = run_by_service(provider.service().here(), *service_key_, input, output);
  if (taken == client::Taken::kDone && provider.settings.verify == LC_VERIFY_FULL &&
      !service_key_->is_result(input, output)) {
    // A wrong result may tell the key.
    OPENSSL_cleanse(out, output.size());
    taken = client::Taken::kFailed;
  }
  if (taken == client::Taken::kDone) {
    ran_on_device_ = true;
    provider.counters.count(Count::kRsaDeviceJobs);
    provider.counters.count(Count::kRsaServiceJobs);
    return RsaTaken::kDone;
  }
  tell_loss(provider);
  const bool is_required = provider.settings.service_is_required();
  if (taken == client::Taken::kFailed || is_required) provider.counters.count(Count::kRsaFailures);
  if (!is_required) return RsaTaken::kNotTaken;
  may_go_on_ = false;
  raise_service_required(provider, taken == client::Taken::kFailed
                                       ? "the service has failed to do the operation"
                                       : "the service has no room or no device for the operation");
  return RsaTaken::kFailed;
}

}  // namespace lanecrypt::provider
