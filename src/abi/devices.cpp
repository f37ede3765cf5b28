// The functions of the C ABI about a context's devices: their properties, self-tests and counters.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "abi/boundary.h"

using lanecrypt::Result;
using lanecrypt::Status;
using lanecrypt::abi::find_device;
using lanecrypt::abi::give;
using lanecrypt::abi::guarded;
using lanecrypt::abi::report;
using lanecrypt::runtime::Executor;

namespace {

void copy_text(char *to, size_t room, const std::string &text) {
  const size_t length = std::min(room - 1, text.size());
  memcpy(to, text.data(), length);
  to[length] = '\0';
}

// pci_text() formats a PCI address as Linux and the drivers' tools do; "" if it is not known.
std::string pci_text(uint64_t address) {
  if (address == 0) return "";
  char text[32];
  (void)snprintf(text, sizeof text, "%04x:%02x:%02x.0", unsigned(address >> 16),
                 unsigned(address >> 8 & 0xff), unsigned(address >> 3 & 0x1f));
  return text;
}

}  // namespace

lc_status lc_device_count(lc_context *context, uint32_t *count) {
  return guarded([&]() -> lc_status {
    if (context == nullptr || count == nullptr)
      return report(LC_ERROR_ARGUMENT, "no context, or no place for the count");
    if (const Status &status = context->dispatcher().status(); !status.ok()) return report(status);
    *count = static_cast<uint32_t>(context->dispatcher().device_count());
    return LC_OK;
  });
}

lc_status lc_device_get(lc_context *context, uint32_t index, lc_device_info *info) {
  return guarded([&]() -> lc_status {
    Result<Executor *> found = find_device(context, index);
    if (!found.ok()) return report(found.status());
    const Executor &executor = **found;
    const lanecrypt::device::Properties &properties = executor.properties();
    lc_device_info value = {};
    copy_text(value.id, sizeof value.id, properties.id);
    copy_text(value.api, sizeof value.api, properties.api);
    copy_text(value.name, sizeof value.name, properties.name);
    copy_text(value.driver, sizeof value.driver, properties.driver);
    using lanecrypt::device::KernelSet;
    const auto state_of = [&](KernelSet set) {
      const auto service = context->dispatcher().service(index, set);
      if (value.reason[0] == '\0') copy_text(value.reason, sizeof value.reason, service.reason);
      return service.state;
    };
    value.state = state_of(KernelSet::kCiphers);
    value.rsa_state = state_of(KernelSet::kRsa);
    value.slh_dsa_state = state_of(KernelSet::kSlh);
    value.ml_dsa_state = state_of(KernelSet::kMlDsa);
    (void)state_of(KernelSet::kHash);
    value.memory_bytes = properties.memory_bytes;
    value.compute_units = properties.compute_units;
    value.is_gpu = properties.is_gpu ? 1 : 0;
    value.selected = context->dispatcher().is_selected(index) ? 1 : 0;
    copy_text(value.pci_address, sizeof value.pci_address, pci_text(properties.pci_address));
    return give(value, info, "lc_device_info.struct_size is too small");
  });
}

lc_status lc_device_test(lc_context *context, uint32_t index) {
  return guarded([&]() -> lc_status {
    Result<Executor *> found = find_device(context, index);
    return report(found.ok() ? (*found)->make_ready() : found.status());
  });
}

lc_status lc_counters_get(lc_context *context, uint32_t index, lc_counters *counters) {
  return guarded([&]() -> lc_status {
    const lanecrypt::runtime::Counters *source = nullptr;
    if (index == LC_CPU && context != nullptr) {
      source = &context->dispatcher().cpu_counters();
    } else {
      Result<Executor *> found = find_device(context, index);
      if (!found.ok()) return report(found.status());
      source = &(*found)->counters();
    }
    lc_counters value = {};
    value.jobs = source->jobs;
    value.bytes = source->bytes;
    value.launches = source->launches;
    value.failures = source->failures;
    value.operations = source->operations;
    if (auto *remote = index == LC_CPU ? context->remote_operations() : nullptr;
        remote != nullptr) {
      const lanecrypt::runtime::Counters &more = remote->cpu_counters();
      value.jobs += more.jobs;
      value.bytes += more.bytes;
      value.failures += more.failures;
      value.operations += more.operations;
    }
    return give(value, counters, "lc_counters.struct_size is too small");
  });
}
