// SPDX-License-Identifier: Apache-2.0
#include "bench_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "aes_cipher.h"
#include "compare_times.h"
#include "device_engine.h"
#include "failure.h"

namespace lanecrypt::cli {
namespace {

constexpr uint64_t kBytes = 1 << 20;
constexpr uint64_t kStreamBytes = 1 << 10;  // CBC encryption: 1,024 streams
constexpr unsigned kKeys = 10000;
constexpr unsigned kInputs = 16;
constexpr uint32_t kMostKeyBytes = 32;

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
    std::vector<TimedLaunch> timed;
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
        timed.push_back({static_cast<double>(told.kernel_ns), key_varies, data_varies});
    }
    for (BenchResult &result : compare_times(run.name, timed, random_)) {
      result.name += "." + where_;
      result.bytes = kBytes;
      result.clock = "device";
      results.push_back(std::move(result));
    }
  }

 private:
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
