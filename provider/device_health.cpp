// Logs devices that are out of service, and counts the ones that are left.
//
// SPDX-License-Identifier: Apache-2.0
#include "provider/device_health.h"

#include <syslog.h>

namespace lanecrypt::provider {
namespace {

void tell_once(Provider &provider, uint32_t number, const char *reason) {
  constexpr uint32_t kMost = 64;
  const uint64_t bit = uint64_t{1} << (number < kMost ? number : kMost - 1);
  // The log needs a socket, which a sandbox may forbid.
  if ((provider.lost_told.fetch_or(bit) & bit) == 0 && !provider.is_sandboxed())
    syslog(LOG_USER | LOG_WARNING, "lanecrypt: out of service: %s", reason);
}

// is_out_of_service() says whether a device was lost or failed its self-test.
bool is_out_of_service(lc_device_state state) {
  return state == LC_DEVICE_LOST || state == LC_DEVICE_UNUSABLE;
}

}  // namespace

DeviceHealth check_device_health(Provider &provider) {
  DeviceHealth health;
  uint32_t count = 0;
  if (lc_device_count(provider.devices(), &count) != LC_OK) return health;
  for (uint32_t index = 0; index < count; ++index) {
    lc_device_info info{};
    info.struct_size = sizeof info;
    if (lc_device_get(provider.devices(), index, &info) != LC_OK || !info.selected) continue;
    health.usable += info.state == LC_DEVICE_READY || info.state == LC_DEVICE_UNTRIED;
    health.lost += info.state == LC_DEVICE_LOST;
    if (is_out_of_service(info.state)) {
      tell_once(provider, 2 * index, info.reason);
    } else if (is_out_of_service(info.rsa_state) || is_out_of_service(info.ml_dsa_state) ||
               is_out_of_service(info.slh_dsa_state)) {
      tell_once(provider, 2 * index + 1, info.reason);
    }
  }
  return health;
}

}  // namespace lanecrypt::provider
