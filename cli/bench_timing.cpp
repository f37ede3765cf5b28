// SPDX-License-Identifier: Apache-2.0
#include "bench_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <span>

#include "aes_cipher.h"
#include "device_engine.h"
#include "failure.h"

namespace lanecrypt::cli {
namespace {

constexpr uint64_t kBytes = 1 << 20;
constexpr uint64_t kStreamBytes = 1 << 10;  // CBC encryption: 1,024 streams
constexpr unsigned kKeys = 10000;
constexpr unsigned kInputs = 16;
constexpr uint32_t kMostKeyBytes = 32;
constexpr unsigned kRuns = 10;  // in which a measurement is looked at in time

// What the system does beside is far from the rest, in both kinds alike, and hides
// small differences: so samples above one of these shares of all are left out too.
constexpr double kCrops[] = {0.5, 0.75, 0.9, 0.95, 0.99, 1};
constexpr double kUsualCrop = 0.95;

struct TimingCase {
  const char *name;
  lc_cipher mode;
  lc_direction direction;
  uint32_t key_bytes;
  bool streams = false;
};
// ChaCha20 looks nothing up and branches on nothing: what tells its inputs apart is
// the card.
constexpr TimingCase kCases[] = {
    {"aes-128-ctr", LC_AES_CTR, LC_ENCRYPT, 16},
    {"aes-128-ecb", LC_AES_ECB, LC_ENCRYPT, 16},
    {"aes-128-ecb-decrypt", LC_AES_ECB, LC_DECRYPT, 16},
    {"aes-128-cbc-decrypt", LC_AES_CBC, LC_DECRYPT, 16},
    {"aes-128-cbc-encrypt", LC_AES_CBC, LC_ENCRYPT, 16, true},
    {"aes-128-xts", LC_AES_XTS, LC_ENCRYPT, 32},
    {"aes-128-gcm", LC_AES_GCM, LC_ENCRYPT, 16},
    {"chacha20", LC_CHACHA20, LC_ENCRYPT, 32},
    {"chacha20-poly1305", LC_CHACHA20_POLY1305, LC_ENCRYPT, 32},
};

struct Sample {
  double ns;
  bool key_varies, data_varies;
  unsigned run;
};

struct Moments {
  double count = 0, mean = 0, squares = 0;
  void add(double x) {
    count += 1;
    const double delta = x - mean;
    mean += delta / count;
    squares += delta * (x - mean);
  }
};

double welch_t(const Moments &x, const Moments &y) {
  if (x.count < 2 || y.count < 2) return 0;
  const double variance = x.squares / (x.count - 1) / x.count + y.squares / (y.count - 1) / y.count;
  return variance == 0 ? 0 : (x.mean - y.mean) / std::sqrt(variance);
}

// The time that `share` of all samples do not exceed.
double crop_at(std::span<const Sample> samples, double share) {
  std::vector<double> times;
  for (const Sample &sample : samples) times.push_back(sample.ns);
  const auto at = times.begin() + static_cast<long>(share * static_cast<double>(times.size() - 1));
  std::nth_element(times.begin(), at, times.end());
  return *at;
}

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
    keys_.resize(uint64_t{kKeys + 1} * kMostKeyBytes);
    for (uint8_t &byte : keys_) byte = static_cast<uint8_t>(random_());
    // Neither kind has a part of the memory to itself.
    for (unsigned i = 0; i < 2 * kInputs; ++i) places_[i] = i;
    std::shuffle(places_.begin(), places_.end(), random_);
    for (unsigned i = 0; i < 2 * kInputs; ++i) {
      uint8_t *input = inputs_.data() + places_[i] * kBytes;
      for (uint64_t n = 0; n < kBytes; ++n)
        input[n] = i < kInputs && n >= 16 ? input[n - 16] : static_cast<uint8_t>(random_());
    }
  }

  void measure(const TimingCase &run, std::vector<BenchResult> &results) {
    const uint8_t iv[16] = {};
    uint8_t key[kMostKeyBytes], tag[16];
    const uint64_t step = run.streams ? kStreamBytes : kBytes;
    std::vector<lc_message> messages(kBytes / step);
    for (uint64_t i = 0; i < messages.size(); ++i) {
      messages[i] = {};
      messages[i].key = key;
      messages[i].iv = iv;
      messages[i].in = in_.address() + i * step;
      messages[i].out = out_.address() + i * step;
      messages[i].length = step;
      messages[i].tag = tag;
    }
    lc_cipher_job job =
        cipher_job(run.mode, run.direction, run.key_bytes, messages.data(), messages.size());
    job.memory = LC_MEMORY_DEVICE;
    job.device = index_;
    std::vector<Sample> samples;
    const unsigned warm_up = std::min(100u, launches_ / 10);
    for (unsigned n = 0; n < launches_ + warm_up; ++n) {
      const bool key_varies = random_() & 1, data_varies = random_() & 1;
      // Both kinds read as much of the same memory; what is used comes last.
      const uint64_t drawn = 1 + random_() % kKeys;
      memcpy(key, keys_.data() + drawn * kMostKeyBytes, sizeof key);
      memcpy(key, keys_.data() + (key_varies ? drawn : 0) * kMostKeyBytes, sizeof key);
      const uint64_t input = places_[(data_varies ? kInputs : 0) + random_() % kInputs];
      in_.fill_from(inputs_.data() + input * kBytes, kBytes);
      const lc_result told = context_.run(job);
      if (told.kernel_ns == 0)
        throw Failure(ExitCode::kFailed, fmt::format("{}: the device tells no time", run.name));
      if (n >= warm_up)
        samples.push_back({static_cast<double>(told.kernel_ns), key_varies, data_varies,
                           (n - warm_up) * kRuns / launches_});
    }
    compare(run.name, samples, results);
  }

 private:
  void compare(const std::string &name, std::span<const Sample> samples,
               std::vector<BenchResult> &results) {
    std::vector<bool> coins;
    for (size_t n = 0; n < samples.size(); ++n) coins.push_back(random_() & 1);
    Spread t[3], ns[3];
    for (const double share : kCrops) {
      const double limit = crop_at(samples, share);
      Moments kinds[3][2];
      for (size_t n = 0; n < samples.size(); ++n) {
        const Sample &sample = samples[n];
        if (sample.ns > limit) continue;
        kinds[0][sample.key_varies].add(sample.ns);
        kinds[1][sample.data_varies].add(sample.ns);
        if (!sample.key_varies) kinds[2][coins[n]].add(sample.ns);
      }
      for (int i = 0; i < 3; ++i) {
        const double found = welch_t(kinds[i][0], kinds[i][1]);
        if (std::abs(found) > std::abs(t[i].median)) t[i].median = found;
        t[i].min = share == kCrops[0] ? found : std::min(t[i].min, found);
        t[i].max = share == kCrops[0] ? found : std::max(t[i].max, found);
        if (share != kUsualCrop) continue;
        const auto [least, most] = std::minmax(kinds[i][0].mean, kinds[i][1].mean);
        ns[i] = {kinds[i][0].mean - kinds[i][1].mean, least, most, launches_};
      }
    }
    const char *what[] = {"keys", "data", "control"};
    for (int i = 0; i < 3; ++i) {
      t[i].runs = launches_;
      add(fmt::format("{}.timing-{}-t", name, what[i]), "t", t[i], results);
      add(fmt::format("{}.timing-{}-ns", name, what[i]), "ns", ns[i], results);
    }
    add(name + ".timing-runs-ns", "ns", between_runs(samples), results);
  }

  // Of launches of one key with equal blocks: how far apart the means of two runs
  // that follow each other are, at most.
  Spread between_runs(std::span<const Sample> samples) const {
    const double limit = crop_at(samples, kUsualCrop);
    Moments runs[kRuns];
    for (const Sample &sample : samples)
      if (sample.ns <= limit && !sample.key_varies && !sample.data_varies)
        runs[sample.run].add(sample.ns);
    Spread spread{0, runs[0].mean, runs[0].mean, launches_};
    for (unsigned n = 1; n < kRuns; ++n) {
      if (runs[n].count == 0 || runs[n - 1].count == 0) continue;
      spread.median = std::max(spread.median, std::abs(runs[n].mean - runs[n - 1].mean));
      spread.min = std::min(spread.min, runs[n].mean);
      spread.max = std::max(spread.max, runs[n].mean);
    }
    return spread;
  }

  void add(const std::string &name, const char *unit, const Spread &spread,
           std::vector<BenchResult> &results) const {
    results.push_back({name + "." + where_, unit, spread, kBytes, {}, "device", {}});
  }

  const Context &context_;
  const uint32_t index_;
  const std::string where_;
  const unsigned launches_;
  const DeviceBuffer in_, out_;
  std::vector<uint8_t> keys_;  // the one, and those that vary
  const PinnedBuffer inputs_;
  std::array<unsigned, 2 * kInputs> places_;  // inputs of equal blocks, then the others
  std::mt19937_64 random_;
};

}  // namespace

std::vector<BenchResult> bench_timing(const Context &context, bool quick, const Wants &wants,
                                      const std::function<void(const std::string &)> &tell) {
  std::vector<BenchResult> results;
  for (uint32_t i = 0; i < context.device_count(); ++i) {
    const lc_device_info info = context.device(i);
    if (!info.selected || lc_device_test(context.get(), i) != LC_OK) continue;
    // The emulator is no measure of anything; it shows that the command works.
    const unsigned launches = info.is_gpu ? (quick ? 10000 : 100000) : 40;
    Timing timing(context, i, info.api, launches);
    for (const TimingCase &run : kCases) {
      if (!wants(fmt::format("{}.timing.{}", run.name, info.api))) continue;
      tell(fmt::format("{} on {}", run.name, info.id));
      timing.measure(run, results);
    }
  }
  return results;
}

}  // namespace lanecrypt::cli
