// SPDX-License-Identifier: Apache-2.0
#include "bench/aes/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <map>

#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

constexpr uint64_t kSliceBytes = 64 << 20;  // bytes of data generated or checked at a time

class AllDevices {
 public:
  AllDevices(const Context &context, const std::vector<uint32_t> &devices, const Patience &patience,
             const BenchData &data, BenchLog &log)
      : context_(context), devices_(devices), patience_(patience), data_(data), log_(log) {}

  void on_cards(uint64_t bytes) {
    if (!wants(".card-one.all") && !wants(".card.all")) return;
    std::list<DeviceBuffer> in, out;
    std::vector<uint8_t> slice(std::min(kSliceBytes, bytes));
    for (const uint32_t device : devices_) {
      in.push_back(context_.on_device(device, bytes));
      out.push_back(context_.on_device(device, bytes));
      for (uint64_t done = 0; done < bytes; done += slice.size()) {
        data_.fill(done, slice);
        in.back().fill_from(slice.data(), slice.size(), done);
      }
    }
    std::vector<lc_message> messages;
    for (auto from = in.begin(), to = out.begin(); from != in.end(); ++from, ++to)
      messages.push_back(message(from->address(), to->address(), bytes));
    measure(".card-one.all", {messages.front()}, LC_MEMORY_DEVICE, devices_.front());
    measure(".card.all", messages, LC_MEMORY_DEVICE, LC_ANY_DEVICE);
    for (const DeviceBuffer &output : out)
      for (uint64_t done = 0; done < bytes; done += slice.size()) {
        output.read_to(slice.data(), slice.size(), done);
        check(done, slice);
      }
  }

  void in_host_memory(uint64_t bytes) {
    if (!wants(".pinned-one.all") && !wants(".pinned.all")) return;
    const PinnedBuffer in = context_.pinned(bytes), out = context_.pinned(bytes);
    data_.fill(0, {in.data(), bytes});
    const std::vector<lc_message> messages = {message(in.data(), out.data(), bytes)};
    for (const bool all : {false, true}) {
      std::fill_n(out.data(), bytes, 0);
      const bool ran = all ? measure(".pinned.all", messages, LC_MEMORY_HOST, LC_ANY_DEVICE)
                           : measure(".pinned-one.all", messages, LC_MEMORY_HOST, devices_.front());
      if (ran) check(0, {out.data(), bytes});
    }
  }

  // Adds the ratio of the rate of all devices to the rate of the first one.
  void add_ratio(const std::string &memory) {
    const auto one = rates_.find("." + memory + "-one.all"),
               all = rates_.find("." + memory + ".all");
    if (one == rates_.end() || all == rates_.end()) return;
    const Spread ratio = spread_of({all->second / one->second});
    log_.add({fmt::format("{}.{}-over-one.all", run_.name(), memory),
              "x",
              ratio,
              {},
              devices_.size(),
              "wall",
              {}});
  }

 private:
  bool wants(const std::string &suffix) const { return log_.wants(run_.name() + suffix); }

  lc_message message(const uint8_t *in, uint8_t *out, uint64_t bytes) const {
    lc_message made{};
    made.key = data_.key();
    made.iv = iv_.data();
    made.in = in;
    made.out = out;
    made.length = bytes;
    return made;
  }

  bool measure(const std::string &suffix, const std::vector<lc_message> &messages, lc_memory memory,
               uint32_t device) {
    if (!wants(suffix)) return false;
    uint64_t bytes = 0;
    for (const lc_message &one : messages) bytes += one.length;
    const std::string name = run_.name() + suffix;
    log_.tell(fmt::format("{}, {} bytes", name, bytes));
    lc_cipher_job job = cipher_job(run_.cipher.mode, run_.direction, run_.cipher.key_bytes,
                                   messages.data(), messages.size());
    job.memory = memory;
    job.device = device;
    job.has_device = 1;
    BenchResult result{name, "GB/s", {}, bytes, {}, "wall", {}};
    std::vector<uint64_t> before;
    for (const uint32_t one : devices_) before.push_back(context_.counters(one).bytes);
    result.spread = measure_rate(patience_, static_cast<double>(bytes) / 1e9, [&] {
      const auto start = std::chrono::steady_clock::now();
      if (context_.run(job).device_bytes != bytes)
        throw cli::Failure(cli::ExitCode::kFailed, name + ": not all of it ran on the devices");
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    });
    for (size_t n = 0; n < devices_.size() && device == LC_ANY_DEVICE; ++n)
      if (context_.counters(devices_[n]).bytes == before[n])
        throw cli::Failure(cli::ExitCode::kFailed, fmt::format("{}: {} did nothing", name,
                                                               context_.device(devices_[n]).id));
    rates_[suffix] = result.spread.median;
    log_.add(std::move(result));
    return true;
  }

  void check(uint64_t offset, std::span<const uint8_t> output) const {
    if (!data_.matches(run_, offset, output))
      throw cli::Failure(cli::ExitCode::kFailed,
                         run_.name() + " on all devices: the output is not OpenSSL's");
  }

  const Context &context_;
  const std::vector<uint32_t> &devices_;
  const Patience &patience_;
  const BenchData &data_;
  BenchLog &log_;
  std::map<std::string, double> rates_;  // GB/s by the suffix of the row's name
  const BenchCase run_{*cli::find_cipher("aes-128-ctr")};
  const cli::Block iv_ = data_.iv(0);
};

}  // namespace

std::vector<std::pair<uint32_t, std::string>> usable_devices(const Context &context,
                                                             BenchLog &log) {
  std::vector<std::pair<uint32_t, std::string>> usable;
  std::map<std::string, unsigned> seen;
  const uint32_t count = context.device_count();
  for (uint32_t i = 0; i < count; i++) {
    const lc_device_info info = context.device(i);
    if (!info.selected) continue;
    log.tell(fmt::format("{}: self-test", info.id));
    if (lc_device_test(context.get(), i) != LC_OK) {
      log.note(fmt::format("{} is left out: {}", info.id, lc_last_error()));
      continue;
    }
    const unsigned before = seen[info.api]++;
    usable.emplace_back(i, before == 0 ? info.api : fmt::format("{}-{}", info.api, before));
  }
  return usable;
}

void bench_all_devices(const Context &context, const std::vector<uint32_t> &devices,
                       uint64_t card_bytes, uint64_t host_bytes, const Patience &patience,
                       const BenchData &data, BenchLog &log) {
  AllDevices all(context, devices, patience, data, log);
  all.on_cards(card_bytes);
  all.add_ratio("card");
  if (host_bytes == 0) return;
  all.in_host_memory(host_bytes);
  all.add_ratio("pinned");
}

}  // namespace lanecrypt::bench
