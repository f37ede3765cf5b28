// SPDX-License-Identifier: Apache-2.0
#include "bench/host/evp.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <list>
#include <memory>

#include "bench/load/evp_update.h"
#include "bench/load/reference.h"
#include "bench/report/turns.h"
#include "cli/failure.h"

namespace lanecrypt::cli {
namespace {

struct Caller {
  std::string where;
  EvpUpdate evp;
  bool has_device;

  Caller() : where("openssl"), has_device(false) {}
  Caller(const std::string &module, const EvpDevice &device)
      : where(device.where), evp(module, device.id), has_device(true) {}
  Caller(const std::string &module, const std::string &devices)
      : where(kOwnChoice), evp(module, devices, EvpUpdate::By::kOwnChoice), has_device(false) {}

  static constexpr char kOwnChoice[] = "own-choice";
};

// Runs until the provider has chosen something else than OpenSSL alone. It looks for
// devices, and perhaps measures them, only when a program has asked for much, and beside
// that work.
void let_choose(EvpUpdate &evp, const BenchData &data, uint8_t *memory, uint64_t bytes) {
  constexpr std::chrono::seconds kLongest{15};
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (evp.cores_bytes() + evp.device_bytes() == 0 && std::chrono::steady_clock::now() < end) {
    evp.begin(data);
    evp.update(memory, memory, bytes);
  }
}

}  // namespace

void bench_host_evp(const std::string &module, const std::vector<EvpDevice> &devices, bool has_gpu,
                    uint64_t bytes, unsigned runs, const BenchData &data, BenchLog &log) {
  std::list<Caller> callers;
  std::unique_ptr<OrdinaryMemory> in, out;
  std::unique_ptr<Reference> reference;
  for (const bool is_in_place : {true, false}) {
    const std::string row =
        fmt::format("{}.evp-update-{}-4KiB-pages.default", EvpUpdate::run().name(),
                    is_in_place ? "in-place" : "apart");
    const std::string own_choice = row + "." + Caller::kOwnChoice;
    bool is_wanted = log.wants(row + ".openssl") || log.wants(own_choice);
    for (const EvpDevice &device : devices) is_wanted |= log.wants(row + "." + device.where);
    if (!is_wanted) continue;
    log.tell(fmt::format("{}, {} bytes", row, bytes));
    if (callers.empty()) {
      callers.emplace_back();
      if (module.empty() && !devices.empty()) log.note(kNoProvider);
      for (const EvpDevice &device : devices)
        if (!module.empty()) callers.emplace_back(module, device);
      std::string all;
      for (const EvpDevice &device : devices) all += (all.empty() ? "" : ",") + device.id;
      if (!module.empty() && !devices.empty()) callers.emplace_back(module, all);
      in = std::make_unique<OrdinaryMemory>(bytes);
      out = std::make_unique<OrdinaryMemory>(bytes);
      data.fill(0, {in->data(), bytes});
      reference = std::make_unique<Reference>(EvpUpdate::run(), data, in->data(), bytes);
    }
    std::vector<Contender> contenders;
    std::vector<double> on_cores, on_devices;
    for (Caller &caller : callers) {
      const std::string name = row + "." + caller.where;
      if (!log.wants(name)) continue;
      const bool chooses = caller.where == Caller::kOwnChoice;
      // The emulator is never chosen.
      if (chooses && has_gpu) let_choose(caller.evp, data, out->data(), bytes);
      const auto before = std::make_shared<uint64_t>(0),
                 cores_before = std::make_shared<uint64_t>(0);
      contenders.push_back(
          {name, bytes,
           [&] { caller.evp.update(is_in_place ? out->data() : in->data(), out->data(), bytes); },
           [&, name, chooses, before, cores_before] {
             reference->check(out->data(), name);
             const uint64_t on_device = caller.evp.device_bytes() - *before;
             if (caller.has_device && on_device != bytes)
               throw Failure(ExitCode::kFailed, name + ": not all of it ran on the device");
             if (!chooses) return;
             const double percent = 100.0 / static_cast<double>(bytes);
             on_devices.push_back(percent * static_cast<double>(on_device));
             on_cores.push_back(percent *
                                static_cast<double>(caller.evp.cores_bytes() - *cores_before));
           },
           [&, before, cores_before] {
             if (is_in_place) std::memcpy(out->data(), in->data(), bytes);
             caller.evp.begin(data);
             *before = caller.evp.device_bytes();
             *cores_before = caller.evp.cores_bytes();
           }});
    }
    measure_contenders(contenders, runs, {}, log);
    if (on_cores.empty()) continue;
    log.add({own_choice + ".on-cores", "%", spread_of(on_cores), bytes, {}, "", {}});
    log.add({own_choice + ".on-devices", "%", spread_of(on_devices), bytes, {}, "", {}});
  }
}

}  // namespace lanecrypt::cli
