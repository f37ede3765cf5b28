// SPDX-License-Identifier: Apache-2.0
#include "bench/host/evp.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <list>
#include <memory>
#include <optional>

#include "bench/load/evp_update.h"
#include "bench/load/openssl.h"
#include "bench/load/reference.h"
#include "bench/report/turns.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

// One kind of update. `row` is the beginning of its rows' names.
struct Update {
  BenchCase run;
  bool is_in_place;
  std::string row;
  // Also compare with OpenSSL on all cores, because OpenSSL is slow on one.
  bool is_slow_on_a_core = false;
};

std::vector<Update> updates() {
  std::vector<Update> all;
  for (const bool is_in_place : {true, false})
    all.push_back({EvpUpdate::usual(), is_in_place,
                   fmt::format("{}.evp-update-{}-4KiB-pages.default", EvpUpdate::usual().name(),
                               is_in_place ? "in-place" : "apart")});
  for (const BenchCase &run : other_block_ciphers())
    all.push_back({run, true, run.name() + ".evp-in-place", true});
  return all;
}

struct Caller {
  std::string where;
  EvpUpdate evp;
  bool has_device;

  explicit Caller(const BenchCase &run) : where("openssl"), evp(run), has_device(false) {}
  Caller(const BenchCase &run, const std::string &module, const EvpDevice &device)
      : where(device.where), evp(run, module, device.id), has_device(true) {}
  Caller(const BenchCase &run, const std::string &module, const std::string &devices)
      : where(kOwnChoice),
        evp(run, module, devices, EvpUpdate::By::kOwnChoice),
        has_device(false) {}

  static constexpr char kOwnChoice[] = "own-choice";
};

// The callers that make one cipher's updates, and the reference that OpenSSL computes.
struct Callers {
  Callers(const BenchCase &run, const std::string &module, const std::vector<EvpDevice> &devices,
          const BenchData &data, const OrdinaryMemory &in)
      : cipher(run.name()), reference(run, data, in.data(), in.size()) {
    list.emplace_back(run);
    if (module.empty() || devices.empty()) return;
    std::string all;
    for (const EvpDevice &device : devices) {
      list.emplace_back(run, module, device);
      all += (all.empty() ? "" : ",") + device.id;
    }
    list.emplace_back(run, module, all);
  }
  const std::string cipher;
  std::list<Caller> list;
  const Reference reference;
};

// Makes updates until the provider uses several cores or a device, or until 15 s are over. The
// provider looks for devices, and may measure them, only after a program has encrypted a lot, and
// does so concurrently with that work.
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
  std::unique_ptr<Callers> callers;
  std::unique_ptr<OrdinaryMemory> in, out;
  for (const Update &update : updates()) {
    const std::string own_choice = update.row + "." + Caller::kOwnChoice;
    const std::string all_cores = update.row + ".openssl-cores";
    const bool has_all_cores = update.is_slow_on_a_core && log.wants(all_cores);
    bool is_wanted = log.wants(update.row + ".openssl") || log.wants(own_choice) || has_all_cores;
    for (const EvpDevice &device : devices) is_wanted |= log.wants(update.row + "." + device.where);
    if (!is_wanted) continue;
    log.tell(fmt::format("{}, {} bytes", update.row, bytes));
    if (!in) {
      if (module.empty() && !devices.empty()) log.note(kNoProvider);
      in = std::make_unique<OrdinaryMemory>(bytes);
      out = std::make_unique<OrdinaryMemory>(bytes);
      data.fill(0, {in->data(), bytes});
    }
    if (!callers || callers->cipher != update.run.name()) {
      callers.reset();
      callers = std::make_unique<Callers>(update.run, module, devices, data, *in);
    }
    const Reference &reference = callers->reference;
    std::vector<Contender> contenders;
    std::vector<double> on_cores, on_devices;
    std::optional<OpensslCores> cores;
    if (has_all_cores) {
      cores.emplace(update.run, data, bytes);
      contenders.push_back(
          {all_cores,
           cores->bytes(),
           [&] { cores->pass(update.is_in_place ? out->data() : in->data(), out->data()); },
           {},
           {}});
    }
    for (Caller &caller : callers->list) {
      const std::string name = update.row + "." + caller.where;
      if (!log.wants(name)) continue;
      const bool chooses = caller.where == Caller::kOwnChoice;
      // The provider never chooses the emulator.
      if (chooses && has_gpu) let_choose(caller.evp, data, out->data(), bytes);
      const auto before = std::make_shared<uint64_t>(0),
                 cores_before = std::make_shared<uint64_t>(0);
      contenders.push_back(
          {name, bytes,
           [&] {
             caller.evp.update(update.is_in_place ? out->data() : in->data(), out->data(), bytes);
           },
           [&, name, chooses, before, cores_before] {
             reference.check(out->data(), name);
             const uint64_t on_device = caller.evp.device_bytes() - *before;
             if (caller.has_device && on_device != bytes)
               throw cli::Failure(cli::ExitCode::kFailed,
                                  name + ": not all of it ran on the device");
             if (!chooses) return;
             const double percent = 100.0 / static_cast<double>(bytes);
             on_devices.push_back(percent * static_cast<double>(on_device));
             on_cores.push_back(percent *
                                static_cast<double>(caller.evp.cores_bytes() - *cores_before));
           },
           [&, before, cores_before] {
             if (update.is_in_place) std::memcpy(out->data(), in->data(), bytes);
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

}  // namespace lanecrypt::bench
