// SPDX-License-Identifier: Apache-2.0
#include "placement/measure.h"

#include <time.h>

#include <algorithm>
#include <numeric>

#include "cpu/cpu_aead.h"
#include "cpu/cpu_cipher.h"
#include "work/request.h"

namespace lanecrypt::placement {
namespace {

using runtime::Dispatcher;
using runtime::Request;

constexpr uint64_t kPageBytes = 4096;
constexpr uint32_t kIvBytes = 12, kTagBytes = 16;  // in authenticated modes
// So many streams fill a device.
constexpr uint32_t kManyStreams = 1024;

struct Plan {
  std::vector<uint64_t> sizes;
  size_t least_runs, most_runs;
  uint64_t run_ns;   // once a point has taken so long, it gets no more runs
  uint64_t most_ns;  // if a run takes longer, no larger size is measured
};

// Every mode takes the largest size in one message.
Plan plan_of(Depth depth) {
  constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kMs = 1000 * 1000;
  if (depth == Depth::kQuick)
    return {{16 * kKiB, 256 * kKiB, 2 * kMiB, 8 * kMiB}, 3, 7, 10 * kMs, 20 * kMs};
  return {{4 * kKiB, 64 * kKiB, 512 * kKiB, 2 * kMiB, 8 * kMiB}, 3, 7, 5 * kMs, 50 * kMs};
}

// Whether a device may pay at all in one message. The figures of the shortest key also serve for
// longer ones, and those of CBC for ciphertext stealing.
bool is_quick(const CipherKind &kind) {
  return kind.one_key_bytes() == (kind.info().is_block_cipher() ? 16 : 32) && !kind.is_chain() &&
         !kind.info().steals();
}

std::vector<CipherKind> kinds_of(Depth depth) {
  std::vector<CipherKind> kinds;
  for (const CipherInfo &info : kCipherInfos)
    // The figures of keys of 128 bits also serve for 192 bits.
    for (const uint32_t one : {16u, 32u})
      for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
        const CipherKind kind = {info.cipher, direction, one * info.keys};
        if (!info.takes_key(kind.key_bytes)) continue;
        if (info.is_own_inverse && direction == LC_DECRYPT) continue;
        if (depth == Depth::kFull || is_quick(kind)) kinds.push_back(kind);
      }
  return kinds;
}

uint64_t now_ns() {
  timespec time = {};
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

// Pinned memory of the device's driver, which is freed on the device's thread.
class Pinned {
 public:
  Pinned(Dispatcher &dispatcher, runtime::Executor &executor)
      : dispatcher_(dispatcher), executor_(executor) {}
  ~Pinned() {
    if (buffer_ == nullptr) return;
    dispatcher_.pinned().remove(buffer_->host());
    (void)executor_.call([&](device::Device &, runtime::DeviceMemory &) {
      buffer_.reset();
      return Status();
    });
  }
  Pinned(const Pinned &) = delete;
  Status allocate(uint64_t bytes) {
    LC_TRY(executor_.call([&](device::Device &device, runtime::DeviceMemory &) -> Status {
      auto made = device.allocate(device::MemoryKind::kPinned, bytes);
      if (!made.ok()) return made.status();
      buffer_ = std::move(*made);
      return Status();
    }));
    std::fill_n(buffer_->host(), bytes, uint8_t{0});
    dispatcher_.pinned().add(buffer_->host(), bytes);
    return Status();
  }
  uint8_t *data() { return buffer_->host(); }

 private:
  Dispatcher &dispatcher_;
  runtime::Executor &executor_;
  std::unique_ptr<device::Buffer> buffer_;
};

// The job of one point. It is in place, and can be run again and again.
class Trial {
 public:
  Trial(const CipherKind &kind, uint8_t *data, uint32_t streams, uint64_t bytes)
      : kind_(kind), data_(data), each_bytes_(bytes / streams), tags_(streams * kTagBytes) {
    std::iota(key_.begin(), key_.end(), uint8_t{1});
    messages_.resize(streams);
    for (uint32_t n = 0; n < streams; ++n) {
      lc_message &message = messages_[n];
      message.key = key_.data();
      message.iv = iv_.data();
      message.in = message.out = data + n * each_bytes_;
      message.length = each_bytes_;
      if (is_aead()) message.tag = tags_.data() + n * kTagBytes;
    }
  }

  // Encrypts first what an authenticated mode is to decrypt.
  Status prepare() {
    return is_aead() && kind_.direction == LC_DECRYPT ? on_cpu(LC_ENCRYPT) : Status();
  }
  Status run_on_cpu() { return on_cpu(kind_.direction); }
  Status run_on_device(Dispatcher &dispatcher, uint32_t index) {
    LC_TRY(submit(dispatcher, index));
    if (result_.cpu_bytes != 0) return Status(LC_ERROR_DEVICE, "the device left a part to the CPU");
    return Status();
  }
  Status run_on_cores(Dispatcher &dispatcher) { return submit(dispatcher, LC_CPU); }

 private:
  bool is_aead() const { return kind_.info().is_aead; }
  Status submit(Dispatcher &dispatcher, uint32_t index) {
    lc_cipher_job job = {};
    job.struct_size = sizeof job;
    job.cipher = kind_.cipher;
    job.direction = kind_.direction;
    job.key_bytes = kind_.key_bytes;
    job.memory = LC_MEMORY_HOST;
    job.device = index;
    job.has_device = 1;
    job.messages = messages_.data();
    job.message_count = messages_.size();
    job.message_size = sizeof messages_[0];
    Result<CipherJob> checked = make_cipher_job(&job);
    if (!checked.ok()) return checked.status();
    const auto request = std::make_shared<Request>(std::move(*checked), nullptr);
    LC_TRY(dispatcher.submit(request));
    const Status status = request->wait();
    result_ = request->result;
    return status;
  }
  Status on_cpu(lc_direction direction) {
    const CipherKind kind = {kind_.cipher, direction, kind_.key_bytes};
    for (size_t n = 0; n < messages_.size(); ++n) {
      uint8_t *text = data_ + n * each_bytes_;
      if (!is_aead())
        LC_TRY(cpu::run_cipher(kind, {key_.data(), iv_}, text, text, each_bytes_));
      else
        LC_TRY(cpu::run_aead(kind, {key_.data(), iv_.data(), kIvBytes, nullptr, 0}, text, text,
                             each_bytes_, tags_.data() + n * kTagBytes, kTagBytes));
    }
    return Status();
  }

  const CipherKind kind_;
  uint8_t *const data_;
  const uint64_t each_bytes_;
  std::array<uint8_t, 64> key_ = {};
  Iv iv_ = {};
  std::vector<uint8_t> tags_;
  std::vector<lc_message> messages_;
  lc_result result_ = {};  // the last job's
};

struct Times {
  uint64_t ns, cpu_ns;
};

// Returns the median of a few runs, after one that is not counted. For CPU time it takes the
// minimum, since others use the CPU too.
template <typename Run>
Result<Times> time_runs(Trial &trial, const Plan &plan, const OwnCpuTime &own, Run run) {
  std::vector<uint64_t> all;
  uint64_t least_cpu = UINT64_MAX, sum = 0;
  for (size_t n = 0; n <= plan.most_runs; ++n) {
    if (const Status status = trial.prepare(); !status.ok()) return status;
    const uint64_t cpu = own.now_ns(), begin = now_ns();
    if (const Status status = run(); !status.ok()) return status;
    const uint64_t took = now_ns() - begin, cpu_end = own.now_ns();
    const uint64_t cpu_took = cpu_end > cpu ? cpu_end - cpu : 0;
    // If it takes too long, one run is enough.
    if (n == 0 && took <= plan.most_ns) continue;
    all.push_back(took);
    least_cpu = std::min(least_cpu, cpu_took);
    sum += took;
    if (took > plan.most_ns || (all.size() >= plan.least_runs && sum > plan.run_ns)) break;
  }
  std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
  return Times{all[all.size() / 2], least_cpu};
}

}  // namespace

std::string describe_device(const device::Properties &properties) {
  return properties.id + ", " + properties.name + ", " + properties.driver;
}

Result<Calibration> measure(Dispatcher &dispatcher, uint32_t index, Depth depth,
                            const std::function<bool(const Point &)> &each, const OwnCpuTime &own) {
  runtime::Executor *executor = dispatcher.device(index);
  if (executor == nullptr)
    return Status(LC_ERROR_ARGUMENT, "there is no device " + std::to_string(index));
  if (const Status status = executor->make_ready(); !status.ok()) return status;
  const Plan plan = plan_of(depth);
  const bool are_several = dispatcher.cores() > 1;
  Calibration made = {.machine = describe_machine(),
                      .device = describe_device(executor->properties()),
                      .is_quick = depth == Depth::kQuick,
                      .points = {}};
  std::vector<uint8_t> room(plan.sizes.back() + kPageBytes);
  const auto address = reinterpret_cast<uintptr_t>(room.data());
  uint8_t *const ordinary = room.data() + (kPageBytes - address % kPageBytes);
  Pinned pinned(dispatcher, *executor);
  if (depth == Depth::kFull)
    if (const Status status = pinned.allocate(plan.sizes.back()); !status.ok()) return status;

  for (const CipherKind &kind : kinds_of(depth))
    for (const bool in_pinned : {false, true}) {
      if ((in_pinned && depth == Depth::kQuick) || !executor->offers(kind)) continue;
      for (const uint32_t streams : {1u, kManyStreams}) {
        if (streams > 1 && !kind.is_chain()) continue;
        for (const uint64_t bytes : plan.sizes) {
          // Streams of less than four blocks tell little.
          if (bytes < streams * 4 * kBlockBytes) continue;
          Trial trial(kind, in_pinned ? pinned.data() : ordinary, streams, bytes);
          Result<Times> device =
              time_runs(trial, plan, own, [&] { return trial.run_on_device(dispatcher, index); });
          if (!device.ok()) return device.status();
          Result<Times> cpu = time_runs(trial, plan, own, [&] { return trial.run_on_cpu(); });
          if (!cpu.ok()) return cpu.status();
          // A device gets pinned memory without a copy, so several cores are never better there.
          Times cores = {};
          if (!in_pinned && are_several && !kind.is_chain() && !kind.info().is_aead)
            cores = *cpu;  // one core does so little
          if (cores.ns != 0 && bytes >= runtime::kLeastForCores) {
            Result<Times> timed =
                time_runs(trial, plan, own, [&] { return trial.run_on_cores(dispatcher); });
            if (!timed.ok()) return timed.status();
            cores = *timed;
          }
          made.points.push_back(
              {kind, in_pinned, streams, bytes, device->ns, device->cpu_ns, cpu->ns, cores.ns});
          if (each && !each(made.points.back()))
            return Status(LC_ERROR_STOPPED, "stopped by the caller");
          if (std::max(device->ns, cpu->ns) > plan.most_ns) break;
        }
      }
    }
  return made;
}

}  // namespace lanecrypt::placement
