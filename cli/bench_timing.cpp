// SPDX-License-Identifier: Apache-2.0
#include "bench_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "aes_cipher.h"
#include "device_engine.h"
#include "failure.h"
#include "welch.h"

namespace lanecrypt::cli {
namespace {

constexpr uint64_t kBytes = 1 << 20;
constexpr uint64_t kStreamBytes = 1 << 10;  // CBC encryption: 1,024 streams
constexpr unsigned kKeys = 10000;
constexpr unsigned kInputs = 16;
constexpr uint32_t kKeyBytes = 16;

class Timing {
 public:
  Timing(const Context &context, uint32_t index, std::string where, unsigned launches)
      : context_(context),
        index_(index),
        where_(std::move(where)),
        launches_(launches),
        in_(context.on_device(index, kBytes)),
        out_(context.on_device(index, kBytes)),
        inputs_(context.pinned(2 * kInputs * kBytes)) {
    std::random_device seed;
    random_.seed(seed());
    // Both kinds come from as many places, so that caches serve them alike.
    for (std::vector<uint8_t> &keys : keys_) keys.resize(kKeys * kKeyBytes);
    for (uint64_t i = 0; i < keys_[0].size(); ++i) {
      keys_[0][i] = i < kKeyBytes ? static_cast<uint8_t>(random_()) : keys_[0][i - kKeyBytes];
      keys_[1][i] = static_cast<uint8_t>(random_());
    }
    for (uint64_t i = 0; i < inputs_.size(); ++i) {
      const bool repeats = i < inputs_.size() / 2 && i >= 16;
      inputs_.data()[i] = repeats ? inputs_.data()[i - 16] : static_cast<uint8_t>(random_());
    }
  }

  void measure(const std::string &name, lc_cipher mode, lc_direction direction, bool streams,
               std::vector<BenchResult> &results) {
    const uint8_t iv[16] = {};
    const uint64_t step = streams ? kStreamBytes : kBytes;
    std::vector<lc_message> messages(kBytes / step);
    for (uint64_t i = 0; i < messages.size(); ++i) {
      messages[i] = {};
      messages[i].iv = iv;
      messages[i].in = in_.address() + i * step;
      messages[i].out = out_.address() + i * step;
      messages[i].length = step;
    }
    std::vector<double> times[2][2];  // by key, by data
    const unsigned warm_up = std::min(100u, launches_ / 10);
    for (unsigned n = 0; n < launches_ + warm_up; ++n) {
      const bool keys_vary = random_() & 1, data_vary = random_() & 1;
      const uint8_t *key = keys_[keys_vary].data() + random_() % kKeys * kKeyBytes;
      const uint64_t input = (data_vary ? kInputs : 0) + random_() % kInputs;
      in_.fill_from(inputs_.data() + input * kBytes, kBytes);
      for (lc_message &message : messages) message.key = key;
      lc_cipher_job job = cipher_job(mode, direction, kKeyBytes, messages.data(), messages.size());
      job.memory = LC_MEMORY_DEVICE;
      job.device = index_;
      const lc_result told = context_.run(job);
      if (told.kernel_ns == 0)
        throw Failure(ExitCode::kFailed, fmt::format("{}: the device tells no time", name));
      if (n >= warm_up) times[keys_vary][data_vary].push_back(static_cast<double>(told.kernel_ns));
    }
    const auto join = [](const std::vector<double> &a, const std::vector<double> &b) {
      std::vector<double> both = a;
      both.insert(both.end(), b.begin(), b.end());
      return both;
    };
    const auto one_key = join(times[0][0], times[0][1]), keys = join(times[1][0], times[1][1]);
    const auto equal = join(times[0][0], times[1][0]), data = join(times[0][1], times[1][1]);
    const std::vector<double> all = join(one_key, keys);
    const double limit = ordinary_limit(all);
    std::vector<double> halves[2];
    for (double time : one_key) halves[random_() & 1].push_back(time);
    add(name + ".timing-keys", welch(one_key, keys, limit), results);
    add(name + ".timing-data", welch(equal, data, limit), results);
    add(name + ".timing-control", welch(halves[0], halves[1], limit), results);
  }

 private:
  void add(const std::string &name, const Welch &found, std::vector<BenchResult> &results) const {
    BenchResult t{name + "-t." + where_, "t", {}, kBytes, {}, "device", {}};
    t.spread = {found.t, found.t, found.t, launches_};
    results.push_back(std::move(t));
    // The mean times of both, least and most.
    BenchResult difference{name + "-ns." + where_, "ns", {}, kBytes, {}, "device", {}};
    difference.spread = {found.mean_a - found.mean_b, std::min(found.mean_a, found.mean_b),
                         std::max(found.mean_a, found.mean_b), launches_};
    results.push_back(std::move(difference));
  }

  const Context &context_;
  const uint32_t index_;
  const std::string where_;
  const unsigned launches_;
  const DeviceBuffer in_, out_;
  std::vector<uint8_t> keys_[2];
  const PinnedBuffer inputs_;
  std::mt19937_64 random_;
};

}  // namespace

std::vector<BenchResult> bench_timing(const Context &context, bool quick,
                                      const std::function<void(const std::string &)> &tell) {
  const struct {
    const char *name;
    lc_cipher mode;
    lc_direction direction;
    bool streams;
  } kCases[] = {{"aes-128-ctr", LC_AES_CTR, LC_ENCRYPT, false},
                {"aes-128-ecb", LC_AES_ECB, LC_ENCRYPT, false},
                {"aes-128-ecb-decrypt", LC_AES_ECB, LC_DECRYPT, false},
                {"aes-128-cbc-decrypt", LC_AES_CBC, LC_DECRYPT, false},
                {"aes-128-cbc-encrypt", LC_AES_CBC, LC_ENCRYPT, true}};
  std::vector<BenchResult> results;
  for (uint32_t i = 0; i < context.device_count(); ++i) {
    const lc_device_info info = context.device(i);
    if (!info.selected || lc_device_test(context.get(), i) != LC_OK) continue;
    // The emulator is no measure of anything; it shows that the command works.
    const unsigned launches = info.is_gpu ? (quick ? 10000 : 100000) : 40;
    Timing timing(context, i, info.api, launches);
    for (const auto &run : kCases) {
      tell(fmt::format("{} on {}", run.name, info.id));
      timing.measure(run.name, run.mode, run.direction, run.streams, results);
    }
  }
  return results;
}

}  // namespace lanecrypt::cli
