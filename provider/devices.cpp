// Gives access to a provider's devices: whether devices may be used, the library's context, and the
// client of the service.
//
// SPDX-License-Identifier: Apache-2.0
#include <syslog.h>

#include "provider/library.h"
#include "provider/provider.h"

namespace lanecrypt::provider {

bool Provider::may_use_devices() const {
  return settings.in_process && no_device.load(std::memory_order_relaxed) == nullptr &&
         !sandbox->had_come_lately();
}

bool Provider::may_use_cores() const { return settings.cores > 1 && !sandbox->had_come_lately(); }

lc_context *Provider::devices() {
  lc_context *current = context.load(std::memory_order_acquire);
  if (current != nullptr || is_sandboxed() || !load_library()) return current;
  lc_options options{};
  options.struct_size = sizeof options;
  // If the process may not load drivers, only its CPU cores are used.
  options.devices = !settings.in_process ? "none"
                    : settings.devices   ? settings.devices->c_str()
                                         : nullptr;
  // The library finishes on the CPU what a device leaves undone. For data in place nothing else
  // could, because the input is overwritten.
  options.fallback = settings.require_gpu ? LC_FALLBACK_NONE : LC_FALLBACK_CPU;
  options.pinned_bytes = settings.pinned_bytes;
  options.verify = settings.verify;
  options.prefer = settings.prefer;
  // All keys draw from the generator of one library context, as the library requires.
  options.prime_pool = settings.prime_pool;
  options.cores = settings.cores;
  lc_context *made = nullptr;
  if (lc_open(&options, &made) != LC_OK) {
    // The failure is also logged, because most programs never see an error of a provider whose
    // requests OpenSSL then does itself.
    if (!no_context_told.exchange(true))
      syslog(LOG_USER | LOG_WARNING, "lanecrypt: no device is used: %s", lc_last_error());
    return nullptr;
  }
  if (context.compare_exchange_strong(current, made, std::memory_order_acq_rel)) return made;
  lc_close(made);
  return current;
}

const char *Provider::why_no_devices(const char *other) {
  if (devices() != nullptr) return other;
  return is_sandboxed() ? kSandboxed : lc_last_error();
}

client::Client &Provider::service() {
  client::Client *current = service_client.load(std::memory_order_acquire);
  if (current != nullptr) return *current;
  auto *const made = new client::Client(
      settings.service == Settings::Service::kNamed
          ? client::ServiceAddress::named(settings.service_path, settings.service_owner)
          : client::ServiceAddress::usual(settings.service_owner));
  if (service_client.compare_exchange_strong(current, made, std::memory_order_acq_rel))
    return *made;
  delete made;
  return *current;
}

}  // namespace lanecrypt::provider
