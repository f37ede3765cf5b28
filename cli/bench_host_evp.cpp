// SPDX-License-Identifier: Apache-2.0
#include "bench_host_evp.h"

#include <fmt/format.h>

#include <cstring>
#include <list>
#include <memory>

#include "bench_reference.h"
#include "bench_turns.h"
#include "evp_update.h"
#include "failure.h"

namespace lanecrypt::cli {
namespace {

struct Caller {
  std::string where;
  EvpUpdate evp;
  bool has_device;

  Caller() : where("openssl"), has_device(false) {}
  Caller(const std::string &module, const EvpDevice &device)
      : where(device.where), evp(module, device.id), has_device(true) {}
};

}  // namespace

void bench_host_evp(const std::string &module, const std::vector<EvpDevice> &devices,
                    uint64_t bytes, unsigned runs, const BenchData &data, BenchLog &log) {
  std::list<Caller> callers;
  std::unique_ptr<OrdinaryMemory> in, out;
  std::unique_ptr<Reference> reference;
  for (const bool is_in_place : {true, false}) {
    const std::string row =
        fmt::format("{}.evp-update-{}-4KiB-pages.default", EvpUpdate::run().name(),
                    is_in_place ? "in-place" : "apart");
    bool is_wanted = log.wants(row + ".openssl");
    for (const EvpDevice &device : devices) is_wanted |= log.wants(row + "." + device.where);
    if (!is_wanted) continue;
    log.tell(fmt::format("{}, {} bytes", row, bytes));
    if (callers.empty()) {
      callers.emplace_back();
      if (module.empty() && !devices.empty()) log.note(kNoProvider);
      for (const EvpDevice &device : devices)
        if (!module.empty()) callers.emplace_back(module, device);
      in = std::make_unique<OrdinaryMemory>(bytes);
      out = std::make_unique<OrdinaryMemory>(bytes);
      data.fill(0, {in->data(), bytes});
      reference = std::make_unique<Reference>(EvpUpdate::run(), data, in->data(), bytes);
    }
    std::vector<Contender> contenders;
    for (Caller &caller : callers) {
      const std::string name = row + "." + caller.where;
      if (!log.wants(name)) continue;
      const auto before = std::make_shared<uint64_t>(0);
      contenders.push_back(
          {name, bytes,
           [&] { caller.evp.update(is_in_place ? out->data() : in->data(), out->data(), bytes); },
           [&, name, before] {
             reference->check(out->data(), name);
             if (caller.has_device && caller.evp.device_bytes() - *before != bytes)
               throw Failure(ExitCode::kFailed, name + ": not all of it ran on the device");
           },
           [&, before] {
             if (is_in_place) std::memcpy(out->data(), in->data(), bytes);
             caller.evp.begin(data);
             *before = caller.evp.device_bytes();
           }});
    }
    measure_contenders(contenders, runs, {}, log);
  }
}

}  // namespace lanecrypt::cli
