// lc_open(), which checks the options of a context, and lc_close().
//
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>

#include "abi/boundary.h"
#include "job/device_list.h"

using lanecrypt::enum_number;
using lanecrypt::Status;
using lanecrypt::abi::guarded;
using lanecrypt::abi::report;

lc_status lc_open(const lc_options *given, lc_context **context) {
  return guarded([&]() -> lc_status {
    if (context == nullptr) return report(LC_ERROR_ARGUMENT, "no place for the context");
    *context = nullptr;
    // The first version of the struct ended before `verify`.
    if (given != nullptr && given->struct_size < offsetof(lc_options, verify))
      return report(LC_ERROR_ARGUMENT, "lc_options.struct_size is too small");
    lc_options options = {};
    if (given != nullptr) memcpy(&options, given, std::min(given->struct_size, sizeof options));
    lanecrypt::runtime::DispatcherOptions chosen;
    const char *source = "the list of devices";
    if (options.devices != nullptr) {
      chosen.devices = options.devices;
    } else if (const char *environment = secure_getenv("LANECRYPT_DEVICES");
               environment != nullptr) {
      chosen.devices = environment;
      source = "the environment variable LANECRYPT_DEVICES =";
    }
    if (const Status status = lanecrypt::check_device_list(chosen.devices, source); !status.ok())
      return report(status);
    if (enum_number(options.fallback) > LC_FALLBACK_NONE)
      return report(LC_ERROR_ARGUMENT, "unknown lc_options.fallback");
    if (enum_number(options.verify) > LC_VERIFY_FULL)
      return report(LC_ERROR_ARGUMENT, "unknown lc_options.verify");
    chosen.fallback = options.fallback;
    chosen.pipeline.verify = options.verify;
    chosen.pipeline.time_limit = std::chrono::milliseconds(options.time_limit_ms);
    if (options.pinned_bytes != 0) chosen.pipeline.pinned_bytes = options.pinned_bytes;
    if (enum_number(options.prefer) > LC_PREFER_OFFLOAD)
      return report(LC_ERROR_ARGUMENT, "unknown lc_options.prefer");
    if (options.prime_pool > lanecrypt::runtime::PrimePool::kMost)
      return report(LC_ERROR_ARGUMENT, "lc_options.prime_pool is above 65536");
    std::optional<lanecrypt::remote::Service> service;
    if (options.service != nullptr && std::string_view(options.service) != "off") {
      const char *const owner = options.service_owner != nullptr ? options.service_owner : "";
      auto named = lanecrypt::remote::Service::named(options.service, owner, options.fallback,
                                                     options.verify);
      if (!named.ok()) return report(named.status());
      service = std::move(*named);
    }
    chosen.prime_pool = options.prime_pool;
    chosen.cores = options.cores;
    const bool offloads = options.prefer == LC_PREFER_OFFLOAD;
    chosen.pipeline.saves_cpu = offloads;
    *context = new lc_context(
        chosen,
        offloads ? lanecrypt::placement::Prefer::kOffload : lanecrypt::placement::Prefer::kSpeed,
        std::move(service));
    return LC_OK;
  });
}

void lc_close(lc_context *context) { delete context; }
