// SPDX-License-Identifier: Apache-2.0
#include "bench/host/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "bench/aes/devices.h"
#include "bench/host/cores.h"
#include "bench/host/evp.h"
#include "bench/host/files.h"
#include "bench/host/idle.h"
#include "bench/load/openssl.h"
#include "bench/load/pass.h"
#include "bench/load/reference.h"
#include "bench/report/turns.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

constexpr uint64_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;
constexpr uint64_t kStreamBytes = 16 * kKiB;  // a stream of CBC encryption
constexpr uint64_t kUnitBytes = 4 * kKiB;     // an XTS data unit: a sector

// Sizes and repetitions. For an emulated device they are minimal: its times mean nothing, and it
// only shows that the command works.
struct Scale {
  unsigned runs;
  uint64_t usual_bytes, large_bytes, streams, card_bytes, file_bytes, cores_bytes;

  Scale(bool quick, bool has_gpu)
      : runs(quick || !has_gpu ? 5 : 9),
        usual_bytes(!has_gpu ? 256 * kKiB
                    : quick  ? 64 * kMiB
                             : 256 * kMiB),
        large_bytes(!has_gpu ? kMiB
                    : quick  ? 256 * kMiB
                             : 2 * kGiB),
        streams(!has_gpu ? 16
                : quick  ? 8192
                         : 65536),
        card_bytes(!has_gpu ? kMiB
                   : quick  ? 256 * kMiB
                            : 4 * kGiB),
        file_bytes(!has_gpu ? kMiB
                   : quick  ? kGiB
                            : 8 * kGiB),
        cores_bytes(quick ? 16 * kMiB : 256 * kMiB) {}
};

std::vector<BenchCase> parallel_cases() {
  return {{*cli::find_cipher("aes-256-ctr")},
          xts_case("256", LC_ENCRYPT, kUnitBytes),
          {*cli::find_cipher("aes-256-cbc"), LC_DECRYPT},
          {{"aes-256-gcm", LC_AES_GCM, 32}}};
}

// Input and output memory that the devices of a context can access directly.
struct Pinned {
  Pinned(const Context &context, const BenchData &data, uint64_t bytes)
      : in(context.pinned(bytes)), out(context.pinned(bytes)) {
    data.fill(0, {in.data(), bytes});
  }
  PinnedBuffer in, out;
};

class HostBench {
 public:
  HostBench(const Context &context, std::vector<std::pair<uint32_t, std::string>> devices,
            const Scale &scale, const BenchData &data, BenchLog &log)
      : context_(context), devices_(std::move(devices)), scale_(scale), data_(data), log_(log) {}

  void pinned() {
    for (const uint64_t bytes : {scale_.usual_bytes, scale_.large_bytes})
      for (const BenchCase &run : parallel_cases())
        compare_with_openssl(run, run.name() + ".pinned-to-pinned.default", bytes);
    memory_.reset();
    for (const char *name : {"aes-128-cbc", "aes-256-cbc"}) {
      const BenchCase run{*cli::find_cipher(name), LC_ENCRYPT, kStreamBytes};
      compare_with_openssl(run,
                           fmt::format("{}.{}x16KiB-pinned.default", run.name(), scale_.streams),
                           scale_.streams * kStreamBytes);
    }
    memory_.reset();
  }

  // Measures what it costs to check the devices' output. Each check needs its own context,
  // because it is a setting of the context.
  void verify() {
    static constexpr std::pair<const char *, lc_verify> kChecks[] = {
        {"verify-sampled", LC_VERIFY_SAMPLED},
        {"verify-off", LC_VERIFY_OFF},
        {"verify-full", LC_VERIFY_FULL}};
    const uint64_t bytes = scale_.usual_bytes;
    for (const auto &[index, where] : devices_) {
      struct Variant {
        std::string name;
        Context context;
        Pinned memory;
      };
      std::list<Variant> variants;
      for (const auto &[name, verify] : kChecks) {
        const std::string full = fmt::format(".pinned-to-pinned.{}.{}", name, where);
        const auto all = parallel_cases();
        if (std::none_of(all.begin(), all.end(),
                         [&](const BenchCase &run) { return log_.wants(run.name() + full); }))
          continue;
        const lc_device_info info = context_.device(index);
        lc_options options{};
        options.struct_size = sizeof options;
        options.devices = info.id;
        options.fallback = LC_FALLBACK_NONE;
        options.verify = verify;
        Context context(options);
        Pinned memory(context, data_, bytes);
        variants.push_back({full, std::move(context), std::move(memory)});
      }
      if (variants.empty()) continue;
      for (const BenchCase &run : parallel_cases()) {
        const Reference reference(run, data_, variants.front().memory.in.data(), bytes);
        std::vector<Contender> contenders;
        // Each of these contexts selects one device, which is its device 0.
        for (Variant &variant : variants)
          if (const std::string name = run.name() + variant.name; log_.wants(name))
            contenders.push_back(
                by_device(variant.context, 0, run, variant.memory, bytes, reference, name));
        measure(contenders, {});
      }
    }
  }

  void all_devices(bool has_gpu) {
    if (devices_.size() < 2) return;
    std::vector<uint32_t> indices;
    for (const auto &[index, where] : devices_) indices.push_back(index);
    // Without a GPU the data in host memory are too short to be split among devices.
    const uint64_t host_bytes = has_gpu ? scale_.large_bytes : 0;
    const Patience patience{scale_.runs, scale_.runs, 60};
    bench_all_devices(context_, indices, scale_.card_bytes, host_bytes, patience, data_, log_);
  }

 private:
  void measure(const std::vector<Contender> &contenders, std::optional<uint64_t> streams) {
    if (contenders.empty()) return;
    log_.tell(fmt::format("{}, {} bytes", contenders.front().name, contenders.front().bytes));
    measure_contenders(contenders, scale_.runs, streams, log_);
  }

  Contender by_device(const Context &context, uint32_t index, const BenchCase &run,
                      const Pinned &memory, uint64_t bytes, const Reference &reference,
                      const std::string &name) const {
    uint8_t *const out = memory.out.data();
    const auto messages =
        std::make_shared<Messages>(run, data_, memory.in.data(), memory.out.data(), bytes);
    const auto submit_seconds = std::make_shared<double>(0);
    const auto once = [&context, index, messages, bytes, name, submit_seconds] {
      lc_cipher_job job = messages->job();
      job.device = index;
      job.has_device = 1;
      std::optional<Ticket> ticket;
      *submit_seconds = seconds_of([&] { ticket = context.submit(job); });
      if (const lc_result told = ticket->wait(); told.device_bytes != bytes)
        throw cli::Failure(cli::ExitCode::kFailed, fmt::format("{}: {} of {} bytes ran on the CPU",
                                                               name, told.cpu_bytes, bytes));
    };
    Contender made{name,
                   bytes,
                   once,
                   [&reference, messages, out, name] { reference.check(*messages, out, name); },
                   {}};
    // For a job of very many messages the time of the submit call is a figure of interest: the
    // call checks and copies every message before the first one is sent.
    if (run.stream_bytes != 0) made.submit_seconds = [submit_seconds] { return *submit_seconds; };
    return made;
  }

  // Measures the devices and OpenSSL, on one core and on all.
  void compare_with_openssl(const BenchCase &run, const std::string &row, uint64_t bytes) {
    const std::string one = row + ".openssl", all = row + ".openssl-cores";
    const bool device_is_wanted = std::any_of(devices_.begin(), devices_.end(), [&](const auto &d) {
      return log_.wants(row + "." + d.second);
    });
    if (!device_is_wanted && !log_.wants(one) && !log_.wants(all)) return;
    log_.tell(fmt::format("{}, {} bytes", row, bytes));
    if (!memory_ || memory_->in.size() < bytes) {
      memory_.reset();
      memory_ = std::make_unique<Pinned>(context_, data_, bytes);
    }
    const Pinned &memory = *memory_;
    const uint8_t *const in = memory.in.data();
    uint8_t *const out = memory.out.data();
    const Reference reference(run, data_, in, bytes);
    OpensslCipher openssl(run);
    OpensslCores cores(run, data_, bytes);
    std::vector<Contender> contenders;
    if (log_.wants(one))
      contenders.push_back({one,
                            bytes,
                            [&] { openssl_pass(openssl, run, data_, in, out, bytes); },
                            [&] { reference.check(out, one); },
                            {}});
    // If the case is one message, each core encrypts a message of its own, so the output differs
    // from the reference and is not checked.
    if (log_.wants(all))
      contenders.push_back({all, cores.bytes(), [&] { cores.pass(in, out); }, {}, {}});
    for (const auto &[index, where] : devices_)
      if (const std::string name = row + "." + where; log_.wants(name))
        contenders.push_back(by_device(context_, index, run, memory, bytes, reference, name));
    measure(contenders,
            run.stream_bytes != 0 ? std::optional(bytes / run.stream_bytes) : std::nullopt);
  }

  const Context &context_;
  const std::vector<std::pair<uint32_t, std::string>> devices_;
  const Scale scale_;
  const BenchData &data_;
  BenchLog &log_;
  std::unique_ptr<Pinned> memory_;  // the largest pair that was needed so far
};

}  // namespace

void bench_host(const Context &context, const std::string &module, const std::string &folder,
                bool quick, BenchLog &log) {
  const auto devices = usable_devices(context, log);
  const bool has_gpu = std::any_of(devices.begin(), devices.end(), [&](const auto &device) {
    return context.device(device.first).is_gpu != 0;
  });
  const Scale scale(quick, has_gpu);
  const BenchData data;
  HostBench bench(context, devices, scale, data, log);
  bench.pinned();
  std::vector<EvpDevice> named;
  for (const auto &[index, where] : devices) named.push_back({context.device(index).id, where});
  bench_host_evp(module, named, has_gpu, scale.usual_bytes, scale.runs, data, log);
  bench_host_cores(scale.cores_bytes, scale.runs, data, log);
  bench.verify();
  bench.all_devices(has_gpu);
  bench_host_idle(module, named, has_gpu, quick, data, log);
  if (!folder.empty()) bench_files(folder, named, scale.file_bytes, has_gpu ? 5 : 2, data, log);
}

}  // namespace lanecrypt::bench
