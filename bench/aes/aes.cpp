// SPDX-License-Identifier: Apache-2.0
#include "bench/aes/aes.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "bench/aes/aead.h"
#include "bench/aes/devices.h"
#include "bench/aes/mixed.h"
#include "bench/load/data.h"
#include "bench/load/openssl.h"
#include "bench/load/pass.h"
#include "bench/report/log.h"
#include "cli/crypt/device_engine.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

constexpr uint64_t kMiB = 1 << 20, kGiB = 1 << 30;
constexpr uint64_t kSliceBytes = 64 * kMiB;  // bytes of data generated or checked at a time
constexpr uint64_t kStreamBytes = 16 << 10;  // bytes of a stream of CBC encryption
constexpr uint64_t kLargestStreams = 65536;
constexpr uint64_t kProbeBytes = 4 * kMiB;  // bytes of the run that estimates a device's speed

struct Scale {
  bool quick;
  Patience patience;
  uint64_t largest_host_bytes, largest_card_bytes;
  unsigned sweep_factor;

  explicit Scale(bool is_quick)
      : quick(is_quick),
        patience{is_quick ? 7u : 21u, 3, is_quick ? 0.7 : 8.0},
        largest_host_bytes(is_quick ? 64 * kMiB : 256 * kMiB),
        largest_card_bytes(is_quick ? 256 * kMiB : 4 * kGiB),
        sweep_factor(is_quick ? 64 : 4) {}

  std::vector<uint64_t> sweep(uint64_t largest) const {
    std::vector<uint64_t> sizes;
    for (uint64_t bytes = 16; bytes < largest; bytes *= sweep_factor) sizes.push_back(bytes);
    sizes.push_back(largest);
    return sizes;
  }
};

std::vector<BenchCase> parallel_cases(bool quick) {
  std::vector<BenchCase> cases;
  for (const char *bits : {"128", "256", "192"}) {
    if (quick && bits[0] == '1' && bits[1] == '9') continue;
    const auto cipher = [&](const char *mode) {
      return *cli::find_cipher(fmt::format("aes-{}-{}", bits, mode));
    };
    cases.push_back({cipher("ctr")});
    cases.push_back({cipher("ecb")});
    cases.push_back({cipher("cbc"), LC_DECRYPT});
    if (!quick) cases.push_back({cipher("ecb"), LC_DECRYPT});
    if (bits[0] == '1' && bits[1] == '9') continue;
    cases.push_back(xts_case(bits, LC_ENCRYPT, kLargeUnitBytes));
    if (quick) continue;
    cases.push_back(xts_case(bits, LC_DECRYPT, kLargeUnitBytes));
    for (uint64_t unit : {512, 4096}) cases.push_back(xts_case(bits, LC_ENCRYPT, unit));
  }
  return cases;
}

std::vector<BenchCase> chain_cases(bool quick) {
  std::vector<BenchCase> cases;
  for (const char *name : {"aes-128-cbc", "aes-256-cbc", "aes-192-cbc"}) {
    cases.push_back({*cli::find_cipher(name), LC_ENCRYPT, kStreamBytes});
    if (quick) break;
  }
  return cases;
}

// A case that is measured in device memory only. `most_bytes` limits the data so that OpenSSL can
// recompute it in a few seconds: CPUs have no instructions for the block ciphers other than AES.
struct CardCase {
  BenchCase run;
  uint64_t most_bytes = 4 * kGiB;
};

std::vector<CardCase> more_cases(bool quick) {
  constexpr uint64_t kMessageBytes = kMiB;  // bytes of a message decrypted with ciphertext stealing
  std::vector<CardCase> cases;
  for (const uint32_t key_bytes : {16u, 32u}) {
    if (quick && key_bytes != 16) continue;
    const auto aes = [&](const char *mode, lc_cipher cipher) {
      return cli::BlockCipherMode{fmt::format("aes-{}-{}", 8 * key_bytes, mode), cipher, key_bytes};
    };
    const cli::BlockCipherMode cfb = aes("cfb", LC_AES_CFB128), ofb = aes("ofb", LC_AES_OFB);
    cases.push_back({{cfb, LC_ENCRYPT, kStreamBytes}});
    cases.push_back({{cfb, LC_DECRYPT}});
    cases.push_back({{ofb, LC_ENCRYPT, kStreamBytes}});
    if (quick) continue;
    const cli::BlockCipherMode cts = aes("cbc-cts", LC_AES_CBC_CS3);
    cases.push_back({{cts, LC_ENCRYPT, kStreamBytes}});
    cases.push_back({{cts, LC_DECRYPT, kMessageBytes}});
  }
  for (const BenchCase &run : other_block_ciphers()) cases.push_back({run, kGiB});
  cases.push_back({{{"chacha20", LC_CHACHA20, 32}}});
  return cases;
}

bool has_gpu(const Context &context) {
  for (uint32_t index = 0; index < context.device_count(); ++index)
    if (context.device(index).is_gpu != 0) return true;
  return false;
}

// Measures everything on one device.
class DeviceBench {
 public:
  DeviceBench(const Context &context, uint32_t index, std::string where, const Scale &scale,
              const BenchData &data, const OpensslRates *openssl, BenchLog &log)
      : context_(context),
        index_(index),
        where_(std::move(where)),
        scale_(scale),
        data_(data),
        openssl_(openssl),
        log_(log) {}

  void run() {
    choose_sizes();
    {
      const DeviceBuffer in = context_.on_device(index_, card_bytes_);
      const DeviceBuffer out = context_.on_device(index_, card_bytes_);
      fill(in);
      for (const BenchCase &run : parallel_cases(scale_.quick))
        on_card(run, in, out, card_bytes_, run.name() + ".card");
      for (const BenchCase &run : chain_cases(scale_.quick))
        on_card(run, in, out, chain_bytes_, run.name() + ".card");
      const BenchCase ctr{*cli::find_cipher("aes-128-ctr")};
      for (uint64_t bytes : scale_.sweep(card_bytes_))
        on_card(ctr, in, out, bytes, ctr.name() + ".card-sweep");
      const BenchCase chain = chain_cases(true).front();
      for (uint64_t streams : {uint64_t{1}, uint64_t{1000}, chain_bytes_ / kStreamBytes})
        if (streams * kStreamBytes <= chain_bytes_)
          on_card(chain, in, out, streams * kStreamBytes, chain.name() + ".card-streams");
      more(in, out, "card");
      copies(in);
    }
    bench_mixed(context_, index_, where_, chain_bytes_, scale_.patience, data_, log_);
    bench_aead(context_, index_, where_, card_bytes_, scale_.patience, data_, log_);
    end_to_end();
  }

  // The sizes that run() has chosen.
  uint64_t card_bytes() const { return card_bytes_; }
  uint64_t host_bytes() const { return host_bytes_; }

  void run_on_card(const std::string &form) {
    std::vector<BenchCase> all = parallel_cases(scale_.quick), chains = chain_cases(scale_.quick);
    all.insert(all.end(), chains.begin(), chains.end());
    for (const CardCase &each : more_cases(scale_.quick)) all.push_back(each.run);
    if (std::none_of(all.begin(), all.end(), [&](const BenchCase &run) {
          return log_.wants(run.name() + "." + form + "." + where_);
        }))
      return;
    choose_sizes();
    const DeviceBuffer in = context_.on_device(index_, card_bytes_);
    const DeviceBuffer out = context_.on_device(index_, card_bytes_);
    fill(in);
    for (const BenchCase &run : parallel_cases(scale_.quick))
      on_card(run, in, out, card_bytes_, run.name() + "." + form);
    for (const BenchCase &run : chain_cases(scale_.quick))
      on_card(run, in, out, chain_bytes_, run.name() + "." + form);
    more(in, out, form);
  }

  void run_hashes(const std::string &form) {
    choose_sizes();
    bench_hashing(context_, index_, form + "." + where_, card_bytes_, scale_.patience, data_, log_);
  }

 private:
  void more(const DeviceBuffer &in, const DeviceBuffer &out, const std::string &how) {
    for (const CardCase &each : more_cases(scale_.quick)) {
      const BenchCase &run = each.run;
      const bool chain = run.stream_bytes != 0;
      const uint64_t bytes = std::min(each.most_bytes, chain ? chain_bytes_ : card_bytes_);
      on_card(run, in, out, bytes, run.name() + "." + how);
    }
  }

  // Chooses data sizes as large as the device's memory and speed allow.
  void choose_sizes() {
    const lc_device_info info = context_.device(index_);
    const DeviceBuffer in = context_.on_device(index_, kProbeBytes);
    const DeviceBuffer out = context_.on_device(index_, kProbeBytes);
    const BenchCase ctr{*cli::find_cipher("aes-256-ctr")};
    std::vector<uint8_t> slice(kProbeBytes);
    data_.fill(0, slice);
    in.fill_from(slice.data(), slice.size());
    Messages messages(ctr, data_, in.address(), out.address(), kProbeBytes);
    job(messages, LC_MEMORY_DEVICE);
    const double seconds = seconds_of([&] { job(messages, LC_MEMORY_DEVICE); });
    const double affordable =
        kProbeBytes / seconds * scale_.patience.budget_seconds / scale_.patience.least_runs / 2;
    const auto fit = [&](uint64_t most) {
      uint64_t bytes = kProbeBytes;
      while (bytes * 4 <= most && static_cast<double>(bytes) * 4 <= affordable &&
             bytes * 4 <= info.memory_bytes / 4)
        bytes *= 4;
      return bytes;
    };
    card_bytes_ = fit(scale_.largest_card_bytes);
    host_bytes_ = fit(scale_.largest_host_bytes);
    chain_bytes_ = std::min(card_bytes_, kLargestStreams * kStreamBytes);
  }

  lc_result job(const Messages &messages, lc_memory memory) const {
    lc_cipher_job job = messages.job();
    job.memory = memory;
    job.device = index_;
    job.has_device = 1;
    return context_.run(job);
  }

  void fill(const DeviceBuffer &in) const {
    std::vector<uint8_t> slice(std::min(kSliceBytes, in.size()));
    for (uint64_t done = 0; done < in.size(); done += slice.size()) {
      data_.fill(done, slice);
      in.fill_from(slice.data(), slice.size(), done);
    }
  }

  void check(const BenchCase &run, uint64_t offset, std::span<const uint8_t> output,
             const std::string &name) const {
    if (!data_.matches(run, offset, output))
      throw cli::Failure(cli::ExitCode::kFailed,
                         fmt::format("{} on {}: the output is not OpenSSL's", name, where_));
  }

  void add(BenchResult result, const BenchCase *run) {
    result.name += "." + where_;
    if (run != nullptr && openssl_ != nullptr)
      if (const auto rate = openssl_->of(*run, *result.bytes))
        result.over_openssl = result.spread.median / *rate;
    log_.add(std::move(result));
  }

  // Calls `how` if the row is wanted. If the device does not support the case, the log notes it.
  void measure(const std::string &name, uint64_t bytes, const std::function<void()> &how) const {
    if (!log_.wants(name + "." + where_)) return;
    log_.tell(fmt::format("{}.{}, {} bytes", name, where_, bytes));
    log_.unless_unsupported(how);
  }

  void on_card(const BenchCase &run, const DeviceBuffer &in, const DeviceBuffer &out,
               uint64_t bytes, const std::string &name) {
    measure(name, bytes, [&] { measure_on_card(run, in, out, bytes, name); });
  }

  void measure_on_card(const BenchCase &run, const DeviceBuffer &in, const DeviceBuffer &out,
                       uint64_t bytes, const std::string &name) {
    const Messages messages(run, data_, in.address(), out.address(), bytes);
    bool by_device = true;
    BenchResult result{name, "GB/s", {}, bytes, {}, "", {}};
    result.spread = measure_rate(scale_.patience, static_cast<double>(bytes) / 1e9, [&] {
      lc_result told{};
      const double seconds = seconds_of([&] { told = job(messages, LC_MEMORY_DEVICE); });
      by_device &= told.kernel_ns != 0;
      return told.kernel_ns != 0 ? static_cast<double>(told.kernel_ns) / 1e9 : seconds;
    });
    result.clock = by_device ? "device" : "wall";
    if (run.stream_bytes != 0) result.streams = messages.list.size();
    for (uint64_t done = 0; done < bytes; done += kSliceBytes) {
      const std::span<uint8_t> slice(slice_.data(), std::min(kSliceBytes, bytes - done));
      out.read_to(slice.data(), slice.size(), done);
      check(run, done, slice, name);
    }
    add(std::move(result), &run);
  }

  void copies(const DeviceBuffer &card) {
    const uint64_t largest = std::min(host_bytes_, card.size());
    const PinnedBuffer host = context_.pinned(largest);
    data_.fill(0, {host.data(), largest});
    for (const char *name : {"copy.upload", "copy.download"}) {
      const bool up = std::string_view(name).ends_with("upload");
      for (uint64_t bytes : scale_.sweep(largest)) {
        const std::string full = name + std::string(bytes == largest ? "" : "-sweep");
        if (!log_.wants(full + "." + where_)) continue;
        log_.tell(fmt::format("{}.{}, {} bytes", full, where_, bytes));
        BenchResult result{full, "GB/s", {}, bytes, {}, "wall", {}};
        result.spread = measure_rate(scale_.patience, static_cast<double>(bytes) / 1e9, [&] {
          return seconds_of(
              [&] { up ? card.fill_from(host.data(), bytes) : card.read_to(host.data(), bytes); });
        });
        add(std::move(result), nullptr);
      }
    }
    std::vector<uint8_t> expected(largest);
    data_.fill(0, expected);
    if (!std::equal(expected.begin(), expected.end(), host.data()))
      throw cli::Failure(cli::ExitCode::kFailed,
                         fmt::format("copies on {} changed the data", where_));
  }

  void end_to_end() {
    const PinnedBuffer pinned_in = context_.pinned(host_bytes_),
                       pinned_out = context_.pinned(host_bytes_);
    std::vector<uint8_t> in(host_bytes_), out(host_bytes_);
    data_.fill(0, in);
    std::copy(in.begin(), in.end(), pinned_in.data());
    const auto both = [&](const BenchCase &run, uint64_t bytes, const std::string &suffix) {
      host(run, pinned_in.data(), pinned_out.data(), bytes, run.name() + ".pinned" + suffix);
      host(run, in.data(), out.data(), bytes, run.name() + ".pageable" + suffix);
    };
    for (const BenchCase &run : parallel_cases(true)) both(run, host_bytes_, "");
    for (const BenchCase &run : chain_cases(true)) both(run, host_bytes_, "");
    for (const BenchCase &run : other_block_ciphers()) both(run, host_bytes_, "");
    const BenchCase ctr{*cli::find_cipher("aes-128-ctr")};
    for (uint64_t bytes : scale_.sweep(host_bytes_)) both(ctr, bytes, "-sweep");
  }

  void host(const BenchCase &run, const uint8_t *in, uint8_t *out, uint64_t bytes,
            const std::string &name) {
    measure(name, bytes, [&] { measure_host(run, in, out, bytes, name); });
  }

  void measure_host(const BenchCase &run, const uint8_t *in, uint8_t *out, uint64_t bytes,
                    const std::string &name) {
    const Messages messages(run, data_, in, out, bytes);
    BenchResult result{name, "GB/s", {}, bytes, {}, "wall", {}};
    result.spread = measure_rate(scale_.patience, static_cast<double>(bytes) / 1e9, [&] {
      lc_result told{};
      const double seconds = seconds_of([&] { told = job(messages, LC_MEMORY_HOST); });
      if (told.device_bytes != bytes)
        throw cli::Failure(cli::ExitCode::kFailed,
                           fmt::format("{} on {}: {} of {} bytes ran on the CPU", name, where_,
                                       told.cpu_bytes, bytes));
      return seconds;
    });
    if (run.stream_bytes != 0) result.streams = messages.list.size();
    check(run, 0, {out, bytes}, name);
    add(std::move(result), &run);
  }

  const Context &context_;
  const uint32_t index_;
  const std::string where_;
  const Scale &scale_;
  const BenchData &data_;
  const OpensslRates *openssl_;  // nullptr if OpenSSL is not measured
  BenchLog &log_;
  const PinnedBuffer slice_ =
      context_.pinned(kSliceBytes);  // a part of an output on its way to the check
  uint64_t card_bytes_ = 0, host_bytes_ = 0, chain_bytes_ = 0;
};

}  // namespace

void bench_aes(const Context &context, bool quick, BenchLog &log) {
  Scale scale(quick);
  // Devices that compute on the CPU process no more than this in a quick run.
  if (quick && !has_gpu(context)) scale.largest_host_bytes = kProbeBytes;
  const BenchData data;
  OpensslRates openssl(scale.patience, scale.largest_host_bytes, data);
  const auto measure_openssl = [&](const BenchCase &run, uint64_t bytes, const char *where) {
    if (!log.wants(run.name() + where)) return;
    log.tell(run.name() + where);
    const BenchResult &result = log.add(openssl.measure(run, bytes, run.name() + where));
    openssl.add(run, bytes, result.spread.median);
  };
  for (const BenchCase &run : parallel_cases(quick))
    measure_openssl(run, scale.largest_host_bytes, ".openssl");
  for (const BenchCase &run : chain_cases(quick))
    measure_openssl(run, scale.largest_host_bytes, ".openssl");
  for (const CardCase &each : more_cases(quick))
    measure_openssl(each.run, std::min(each.most_bytes / 64, scale.largest_host_bytes), ".openssl");
  std::vector<BenchCase> on_all_cores = parallel_cases(quick);
  for (const BenchCase &run : other_block_ciphers()) on_all_cores.push_back(run);
  for (const BenchCase &run : on_all_cores) {
    if (!log.wants(run.name() + ".openssl-cores")) continue;
    log.tell(run.name() + ".openssl-cores");
    log.add(openssl.measure_on_all_cores(run, run.name() + ".openssl-cores"));
  }
  for (const char *name : {"aes-128-ctr", "aes-256-ctr"})
    for (uint64_t bytes : scale.sweep(scale.largest_host_bytes))
      if (bytes < scale.largest_host_bytes)
        measure_openssl({*cli::find_cipher(name)}, bytes, ".openssl-sweep");

  uint64_t card_bytes = UINT64_MAX, host_bytes = UINT64_MAX;
  std::vector<uint32_t> devices;
  for (const auto &[index, where] : usable_devices(context, log)) {
    DeviceBench bench(context, index, where, scale, data, &openssl, log);
    bench.run();
    devices.push_back(index);
    card_bytes = std::min(card_bytes, bench.card_bytes());
    host_bytes = std::min(host_bytes, bench.host_bytes());
  }
  if (devices.size() > 1)
    bench_all_devices(context, devices, card_bytes, 4 * host_bytes, scale.patience, data, log);
}

void bench_hashes(const Context &context, const std::string &form, bool quick, BenchLog &log) {
  const Scale scale(quick);
  const BenchData data;
  for (const auto &[index, where] : usable_devices(context, log))
    DeviceBench(context, index, where, scale, data, nullptr, log).run_hashes(form);
}

void bench_kernels(const Context &context, const std::string &form, bool quick, BenchLog &log) {
  const Scale scale(quick);
  const BenchData data;
  for (const auto &[index, where] : usable_devices(context, log))
    DeviceBench(context, index, where, scale, data, nullptr, log).run_on_card(form);
}

}  // namespace lanecrypt::bench
