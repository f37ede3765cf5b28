// SPDX-License-Identifier: Apache-2.0
#include "bench/host/idle.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "bench/load/evp_update.h"
#include "bench/load/pass.h"
#include "bench/load/reference.h"
#include "bench/report/core_share.h"
#include "bench/report/log.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

// The period of jobs that are run at a given rate.
constexpr double kPeriodSeconds = 0.008;
constexpr uint64_t kLeastBytes = 64 << 10, kMiB = 1 << 20;

// Runs the job on data in the kind of memory that is measured.
class Worker {
 public:
  virtual ~Worker() = default;
  virtual void run(uint64_t bytes) = 0;
  virtual const uint8_t *in() const = 0;
  virtual uint8_t *out() = 0;
};

class EvpWorker : public Worker {
 public:
  // If `device` is null, OpenSSL alone does the job.
  EvpWorker(const std::string &module, const EvpDevice *device, const BenchData &data,
            uint64_t most_bytes)
      : data_(data), in_(most_bytes), out_(most_bytes) {
    if (device != nullptr)
      evp_ = std::make_unique<EvpUpdate>(EvpUpdate::usual(), module, device->id);
    else
      evp_ = std::make_unique<EvpUpdate>(EvpUpdate::usual());
    data.fill(0, {in_.data(), most_bytes});
    has_device_ = device != nullptr;
  }
  void run(uint64_t bytes) override {
    evp_->begin(data_);
    const uint64_t before = evp_->device_bytes();
    evp_->update(in_.data(), out_.data(), bytes);
    if (has_device_ && evp_->device_bytes() - before != bytes)
      throw cli::Failure(cli::ExitCode::kFailed,
                         "beside a task, not all of an update ran on the device");
  }
  const uint8_t *in() const override { return in_.data(); }
  uint8_t *out() override { return out_.data(); }

 private:
  const BenchData &data_;
  OrdinaryMemory in_, out_;
  std::unique_ptr<EvpUpdate> evp_;
  bool has_device_;
};

class DeviceWorker : public Worker {
 public:
  // Opens the device again, so that its threads are created on the core of this thread.
  DeviceWorker(const EvpDevice &device, bool pinned, const BenchData &data, uint64_t most_bytes)
      : data_(data), context_(device.id.c_str(), LC_FALLBACK_NONE) {
    if (pinned) {
      pinned_in_ = context_.pinned(most_bytes);
      pinned_out_ = context_.pinned(most_bytes);
    } else {
      ordinary_in_ = std::make_unique<OrdinaryMemory>(most_bytes);
      ordinary_out_ = std::make_unique<OrdinaryMemory>(most_bytes);
    }
    in_ = pinned ? pinned_in_.data() : ordinary_in_->data();
    out_ = pinned ? pinned_out_.data() : ordinary_out_->data();
    data.fill(0, {in_, most_bytes});
  }
  void run(uint64_t bytes) override {
    const Messages messages(EvpUpdate::usual(), data_, in_, out_, bytes);
    lc_cipher_job job = messages.job();
    job.device = 0;
    job.has_device = 1;
    if (context_.run(job).device_bytes != bytes)
      throw cli::Failure(cli::ExitCode::kFailed,
                         "beside a task, not all of a job ran on the device");
  }
  const uint8_t *in() const override { return in_; }
  uint8_t *out() override { return out_; }

 private:
  const BenchData &data_;
  const Context context_;
  PinnedBuffer pinned_in_, pinned_out_;
  std::unique_ptr<OrdinaryMemory> ordinary_in_, ordinary_out_;
  uint8_t *in_ = nullptr, *out_ = nullptr;
};

// Starts one job per period. If a job takes longer than the period, the next one starts at once.
class Pace {
 public:
  explicit Pace(double period_seconds)
      : period_(std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(period_seconds))) {}
  void run(const std::function<void()> &job) {
    // A late job may make up for one period.
    due_ = is_begun_ ? std::max(due_, Clock::now() - period_) + period_ : Clock::now() + period_;
    is_begun_ = true;
    job();
    std::this_thread::sleep_until(due_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::duration period_;
  Clock::time_point due_;
  bool is_begun_ = false;
};

struct Scale {
  std::vector<double> rates;
  uint64_t most_bytes;
  double task_seconds;
  unsigned runs;
};

// Measures one worker at all rates that it reaches.
void measure(Worker &worker, const std::string &name, const Scale &scale, const CountingTask &task,
             const BenchData &data, BenchLog &log) {
  bool is_too_slow = false;
  for (const double rate : scale.rates) {
    if (rate > 0 && is_too_slow) continue;
    const auto wanted = static_cast<uint64_t>(rate * kPeriodSeconds * 1e9);
    const uint64_t bytes = rate == 0 ? scale.most_bytes
                                     : std::clamp<uint64_t>(wanted / kLeastBytes * kLeastBytes,
                                                            kLeastBytes, scale.most_bytes);
    const double gigabytes = static_cast<double>(bytes) / 1e9;
    const Reference reference(EvpUpdate::usual(), data, worker.in(), bytes);
    worker.run(bytes);
    std::vector<double> shares, rates;
    for (unsigned n = 0; n < scale.runs; ++n) {
      uint64_t jobs = 0;
      Pace pace(rate == 0 ? 0 : gigabytes / rate);
      const Share share = concurrent_share(task, [&] {
        pace.run([&] { worker.run(bytes); });
        jobs++;
      });
      reference.check(worker.out(), name);
      shares.push_back(share.percent);
      rates.push_back(static_cast<double>(jobs) * gigabytes / share.seconds);
    }
    BenchResult result{name, "% idle", spread_of(shares), bytes, {}, "wall", {}};
    result.gb_per_s = spread_of(rates).median;
    is_too_slow = *result.gb_per_s < 0.8 * rate;
    log.add(std::move(result));
  }
}

}  // namespace

void bench_host_idle(const std::string &module, const std::vector<EvpDevice> &devices, bool has_gpu,
                     bool quick, const BenchData &data, BenchLog &log) {
  using Make = std::function<std::unique_ptr<Worker>(uint64_t most_bytes)>;
  std::vector<std::pair<std::string, Make>> ways;
  const std::string row = EvpUpdate::usual().name() + ".idle";
  const auto evp = [&](const EvpDevice *device) {
    return [&, device](uint64_t bytes) {
      return std::make_unique<EvpWorker>(module, device, data, bytes);
    };
  };
  ways.emplace_back(row + ".openssl", evp(nullptr));
  for (const EvpDevice &device : devices) {
    for (const bool pinned : {true, false})
      ways.emplace_back(row + (pinned ? "-pinned." : "-pageable.") + device.where,
                        [&, pinned](uint64_t bytes) {
                          return std::make_unique<DeviceWorker>(device, pinned, data, bytes);
                        });
    if (!module.empty()) ways.emplace_back(row + "-evp." + device.where, evp(&device));
  }
  std::erase_if(ways, [&](const auto &way) { return !log.wants(way.first); });
  if (ways.empty()) return;
  const OneCore one_core;
  if (!one_core.is_set()) {
    log.note("the CPU's idle time is left out: the process may not choose its core");
    return;
  }
  const Scale scale = !has_gpu ? Scale{{0.001, 0}, 4 * kLeastBytes, 0.05, 1}
                      : quick  ? Scale{{1, 4, 16, 0}, 64 * kMiB, 0.1, 3}
                               : Scale{{1, 2, 4, 8, 16, 32, 0}, 128 * kMiB, 0.3, 5};
  const CountingTask task(scale.task_seconds);
  for (const auto &[name, make] : ways) {
    log.tell(name);
    log.unless_unsupported([&] {
      const std::unique_ptr<Worker> worker = make(scale.most_bytes);
      measure(*worker, name, scale, task, data, log);
    });
  }
}

}  // namespace lanecrypt::bench
