// SPDX-License-Identifier: Apache-2.0
#include "service/daemon/service.h"

#include <algorithm>
#include <thread>

#include "service/daemon/client/session.h"
#include "service/daemon/limits.h"

namespace lanecrypt::service::daemon {
namespace {

size_t most_for_clients(size_t descriptors) {
  return descriptors > 2 * kOwnDescriptors ? descriptors - kOwnDescriptors : descriptors / 2;
}

}  // namespace

Service::Service(const char *device_list, lc_verify verify, size_t descriptor_limit)
    : most_descriptors(most_for_clients(descriptor_limit)),
      operations(
          page.status(), counters,
          [](void *service) { static_cast<Service *>(service)->devices.look_soon(); }, this),
      key_checks(operations, counters, &Session::key_line),
      root_checks(operations, counters, &Session::root_line),
      searches(counters),
      channel_threads(*this),
      devices(page.status(), device_list, verify) {
  page.status().cores = std::max(1u, std::thread::hardware_concurrency());
}

DescriptorQuota Service::take_descriptors(User &user, size_t count) {
  // Other threads release descriptors meanwhile, so the counts can only become smaller.
  const size_t of_user = user.descriptors.load(std::memory_order_relaxed);
  const size_t of_all = descriptors.load(std::memory_order_relaxed);
  const size_t others = of_all > of_user ? of_all - of_user : 0;
  return {Quota(descriptors, most_descriptors, count),
          Quota(user.descriptors, most_descriptors_of_user(most_descriptors, others), count)};
}

void Service::start(Told told) {
  // Half of the cores at most keep up with a device. The others are for the clients.
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  releases.start();
  channel_threads.start(std::clamp(cores / 2, 2u, 8u));
  key_checks.start(cores > 4 ? 2 : 1);
  root_checks.start(1);
  searches.start(kMostSearches);
  devices.start(
      [this](lc_context *context) {
        library_keys.open(context, [this] { return devices.await_slh_dsa(); });
        operations.open(context);
        searches.open(context);
      },
      std::move(told.on_tried), std::move(told.on_lost));
}

}  // namespace lanecrypt::service::daemon
