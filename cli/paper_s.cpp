// S: Saraiva 2013, AES. ECB and CBC both ways against size, on an idle CPU and on a
// loaded one, and the CPU's share.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "paper_case.h"

namespace lanecrypt::cli {
namespace {

// The paper's range, in whole blocks, and on.
constexpr uint64_t kSizes[] = {112,     1 << 10,   2 << 10,  3 << 10,   16 << 10,  128 << 10,
                               1 << 20, 3'700'000, 32 << 20, 256 << 20, 1ull << 30};
// That is worth a device's time: a chain goes at 20 MB/s.
constexpr uint64_t kLargestChain = 3'700'000;

// As many threads as cores, which do nothing but load them with AES.
class Load {
 public:
  Load() {
    for (unsigned n = std::max(std::thread::hardware_concurrency(), 1u); n > 0; n--)
      threads_.emplace_back([this] {
        const BenchData data;
        std::vector<uint8_t> buffer(16 << 10);
        while (!over_) data.fill(0, buffer);
      });
  }
  ~Load() {
    over_ = true;
    for (std::thread &thread : threads_) thread.join();
  }
  Load(const Load &) = delete;
  Load &operator=(const Load &) = delete;

 private:
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

class MeasureS {
 public:
  MeasureS(PaperBench &bench, uint64_t most)
      : bench_(bench), data_(bench.context, most, false), most_(most) {}

  // `loaded`: while a load takes all cores.
  void sweep(const BenchCase &run, bool loaded) {
    const std::optional<Load> load = loaded ? std::optional<Load>(std::in_place) : std::nullopt;
    const char *suffix = loaded ? "-loaded" : "";
    std::vector<double> openssl;
    for (const uint64_t bytes : kSizes)
      if (bytes <= most_) openssl.push_back(by_openssl(run, bytes, suffix));
    for (const uint32_t index : bench_.devices()) {
      size_t at = 0;
      for (const uint64_t bytes : kSizes)
        if (bytes <= most_ && !try_device(run, index, bytes, suffix, openssl[at++])) break;
    }
  }

 private:
  // False where the device does not do that at all, such as chains by fragment shaders.
  bool try_device(const BenchCase &run, uint32_t index, uint64_t bytes, const std::string &suffix,
                  double openssl) {
    try {
      by_device(run, index, bytes, suffix, openssl);
      return true;
    } catch (const Error &error) {
      if (error.status() != LC_ERROR_UNSUPPORTED && error.status() != LC_ERROR_NO_DEVICE) throw;
      bench_.note(fmt::format("S: {} is left out: {}", run.name(), error.what()));
      return false;
    }
  }

  double by_openssl(const BenchCase &run, uint64_t bytes, const char *suffix) {
    BenchResult &result = add(run, fmt::format("openssl{}", suffix), bytes,
                              [&] { return data_.by_openssl(run, bytes); });
    return result.spread.median;
  }

  void by_device(const BenchCase &run, uint32_t index, uint64_t bytes, const std::string &suffix,
                 double openssl) {
    const bool is_chain = run.cipher.mode == LC_AES_CBC && run.direction == LC_ENCRYPT;
    if (is_chain && bytes > kLargestChain) return;
    const std::string api = bench_.context.device(index).api;
    double cpu = 0, wall = 0;
    unsigned passes = 0;
    BenchResult &result = add(run, "there-and-back" + suffix + "." + api, bytes, [&] {
      const double before = cpu_seconds();
      const double seconds = data_.by_device(bench_.context, index, run, bytes);
      if (passes++ > 0) {
        cpu += cpu_seconds() - before;
        wall += seconds;
      }
      return seconds;
    });
    result.over_openssl = result.spread.median / openssl;
    data_.check(run, bytes, result.name);
    // Beside a load the process's time is the load's.
    if (!suffix.empty() || wall == 0) return;
    const double share = 100 * cpu / wall;
    BenchResult cpu_share{
        fmt::format("S.{}.cpu.{}", run.name(), api), "% of a core", {}, bytes, {}, "", {}};
    cpu_share.spread = {share, share, share, 1};
    if (is_chain) cpu_share.published = 2.7;
    bench_.add(std::move(cpu_share));
  }

  BenchResult &add(const BenchCase &run, const std::string &how, uint64_t bytes,
                   const std::function<double()> &seconds) {
    const std::string name = fmt::format("S.{}.{}", run.name(), how);
    bench_.tell(fmt::format("{}, {} bytes", name, bytes));
    BenchResult result{name, "GB/s", {}, bytes, {}, "wall", {}};
    const Patience patience = bench_.quick ? Patience{5, 1, 0.1} : Patience{7, 2, 0.1};
    result.spread = measure_rate(patience, static_cast<double>(bytes) / 1e9, seconds);
    bench_.add(std::move(result));
    return bench_.results.back();
  }

  PaperBench &bench_;
  PaperData data_;
  uint64_t most_;
};

}  // namespace

void paper_s(PaperBench &bench) {
  const bool has_gpu = bench.has_gpu();
  {
    MeasureS measure(bench, !has_gpu ? 16 << 10 : bench.quick ? 32 << 20 : 1 << 30);
    for (const bool loaded : {false, true})
      for (const char *name : {"aes-128-ecb", "aes-128-cbc"})
        for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
          measure.sweep({*find_cipher(name), direction}, loaded);
  }
  paper_s_rsa(bench);
}

}  // namespace lanecrypt::cli
