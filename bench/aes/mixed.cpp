// SPDX-License-Identifier: Apache-2.0
#include "bench/aes/mixed.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <random>

#include "bench/load/aead_seal.h"
#include "bench/report/log.h"
#include "cli/crypt/device_engine.h"
#include "cli/failure.h"
#include "cpu/core_count.h"

namespace lanecrypt::bench {
namespace {

constexpr uint64_t kUsualBytes = 16 << 10;
constexpr uint64_t kLeastBytes = 1 << 10, kMostBytes = 32 << 10;
constexpr uint32_t kKeyBytes = 16;

struct ChainCase {
  const char *name, *openssl;
  lc_cipher mode;
};
constexpr ChainCase kCases[] = {
    {"aes-128-cbc-encrypt", "aes-128-cbc", LC_AES_CBC},
    {"aes-128-cfb-encrypt", "aes-128-cfb", LC_AES_CFB128},
    {"aes-128-ofb", "aes-128-ofb", LC_AES_OFB},
    {"aes-128-ccm", "AES-128-CCM", LC_AES_CCM},
};

[[noreturn]] void fail(const std::string &text) {
  throw cli::Failure(cli::ExitCode::kFailed, text);
}

// Messages one after another in a buffer. Each begins at a multiple of 16.
class Batch {
 public:
  Batch(const BenchData &data, uint64_t count, bool alike) {
    std::mt19937_64 random(std::random_device{}());
    std::uniform_int_distribution<uint64_t> length(kLeastBytes, kMostBytes);
    keys_.resize(count * kKeyBytes);
    if (RAND_bytes(keys_.data(), static_cast<int>(keys_.size())) != 1)
      fail("OpenSSL's random generator gave no data");
    ivs_.resize(count);
    tags_.resize(count);
    for (uint64_t n = 0; n < count; ++n) {
      ivs_[n] = data.iv(n);
      lengths_.push_back(alike ? kUsualBytes : length(random));
      starts_.push_back(extent_);
      extent_ += (lengths_.back() + cli::kBlockBytes - 1) / cli::kBlockBytes * cli::kBlockBytes;
    }
  }

  uint64_t extent() const { return extent_; }

  // The length that is encrypted: CBC takes only whole blocks.
  uint64_t length(lc_cipher mode, uint64_t n) const {
    return mode == LC_AES_CBC ? lengths_[n] / cli::kBlockBytes * cli::kBlockBytes : lengths_[n];
  }

  std::vector<lc_message> messages(lc_cipher mode, const uint8_t *in, uint8_t *out) {
    std::vector<lc_message> list(lengths_.size());
    for (uint64_t n = 0; n < list.size(); ++n) {
      list[n].key = keys_.data() + n * kKeyBytes;
      list[n].iv = ivs_[n].data();
      list[n].in = in + starts_[n];
      list[n].out = out + starts_[n];
      list[n].length = length(mode, n);
      list[n].tag = tags_[n].data();
    }
    return list;
  }

  // Returns whether OpenSSL computes the same `out` and the same tags from `in`. Uses all cores.
  bool matches(const ChainCase &run, const std::vector<uint8_t> &in, const uint8_t *out) const {
    const uint64_t cores = cpu::usable_cores();
    std::vector<std::future<bool>> checks;
    for (uint64_t core = 0; core < cores; ++core)
      checks.push_back(std::async(std::launch::async, [&, core] {
        std::vector<uint8_t> expected(kMostBytes);
        for (uint64_t n = core; n < lengths_.size(); n += cores) {
          const uint64_t bytes = length(run.mode, n);
          if (!encrypts_to(run, n, in.data() + starts_[n], expected.data(), bytes) ||
              std::memcmp(expected.data(), out + starts_[n], bytes) != 0)
            return false;
        }
        return true;
      }));
    bool all = true;
    for (std::future<bool> &check : checks) all &= check.get();
    return all;
  }

 private:
  // Encrypts message `n` by OpenSSL into `out`. Returns false if the tag differs.
  bool encrypts_to(const ChainCase &run, uint64_t n, const uint8_t *in, uint8_t *out,
                   uint64_t bytes) const {
    const uint8_t *key = keys_.data() + n * kKeyBytes;
    if (run.mode == LC_AES_CCM) {
      Nonce nonce;
      std::copy_n(ivs_[n].begin(), nonce.size(), nonce.begin());
      Seal seal(run.openssl, key, nonce, bytes);
      seal.update(in, out, bytes);
      return seal.finish() == tags_[n];
    }
    OpensslCipher openssl(BenchCase{{run.openssl, run.mode, kKeyBytes}});
    openssl.begin(key, ivs_[n]);
    openssl.update(in, out, bytes);
    return true;
  }

  std::vector<uint8_t> keys_;
  std::vector<cli::Block> ivs_;
  std::vector<Tag> tags_;
  std::vector<uint64_t> lengths_, starts_;
  uint64_t extent_ = 0;
};

}  // namespace

void bench_mixed(const Context &context, uint32_t index, const std::string &where, uint64_t bytes,
                 const Patience &patience, const BenchData &data, BenchLog &log) {
  for (const char *how : {".card-alike.", ".card-mixed."}) {
    const auto wanted = [&](const ChainCase &run) { return log.wants(run.name + (how + where)); };
    if (std::none_of(std::begin(kCases), std::end(kCases), wanted)) continue;
    Batch batch(data, bytes / kUsualBytes, std::strstr(how, "alike") != nullptr);
    const DeviceBuffer in = context.on_device(index, batch.extent()),
                       out = context.on_device(index, batch.extent());
    const PinnedBuffer told_out = context.pinned(batch.extent());
    std::vector<uint8_t> plain(batch.extent());
    data.fill(0, plain);
    in.fill_from(plain.data(), plain.size());
    for (const ChainCase &run : kCases) {
      if (!wanted(run)) continue;
      const std::string name = run.name + (how + where);
      log.tell(name);
      const std::vector<lc_message> messages =
          batch.messages(run.mode, in.address(), out.address());
      lc_cipher_job job =
          cipher_job(run.mode, LC_ENCRYPT, kKeyBytes, messages.data(), messages.size());
      job.memory = LC_MEMORY_DEVICE;
      job.device = index;
      job.has_device = 1;
      uint64_t all = 0;
      for (const lc_message &message : messages) all += message.length;
      BenchResult result{name, "GB/s", {}, all, messages.size(), "device", {}};
      const auto once = [&] {
        const auto start = std::chrono::steady_clock::now();
        const lc_result told = context.run(job);
        const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
        return told.kernel_ns != 0 ? static_cast<double>(told.kernel_ns) / 1e9 : wall.count();
      };
      const bool ran = log.unless_unsupported(
          [&] { result.spread = measure_rate(patience, static_cast<double>(all) / 1e9, once); });
      if (!ran) continue;
      out.read_to(told_out.data(), batch.extent());
      if (!batch.matches(run, plain, told_out.data()))
        fail(fmt::format("{}: the output is not OpenSSL's", name));
      log.add(std::move(result));
    }
  }
}

}  // namespace lanecrypt::bench
