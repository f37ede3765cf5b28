// S: Saraiva 2013, AES. ECB and CBC in both directions by size, on an idle CPU and on a loaded
// one, and the CPU time that a device takes.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/load/cpu_load.h"
#include "bench/papers/case.h"

namespace lanecrypt::bench {
namespace {

// The paper's range in whole blocks, and larger sizes.
constexpr uint64_t kSizes[] = {112,     1 << 10,   2 << 10,  3 << 10,   16 << 10,  128 << 10,
                               1 << 20, 3'700'000, 32 << 20, 256 << 20, 1ull << 30};
// A CBC chain runs at 20 MB/s on a GPU. If a pass is expected to take longer than kLongSeconds,
// only one is made; if longer than the other limit, none.
constexpr double kLongSeconds = 0.5, kMostSeconds = 60, kMostSecondsQuick = 0.25;

class MeasureS {
 public:
  MeasureS(PaperBench &bench, uint64_t most)
      : bench_(bench), data_(bench.context, most, false), most_(most) {}

  // Measures all sizes. If `loaded`, a load occupies all cores during the measurement.
  void sweep(const BenchCase &run, bool loaded) {
    std::optional<CpuLoad> load;
    if (loaded) load.emplace([this](const std::string &text) { bench_.log.note("S: " + text); });
    load_ = loaded ? load->name() : "";
    const char *suffix = loaded ? "-loaded" : "";
    std::vector<double> openssl;
    for (const uint64_t bytes : kSizes)
      if (bytes <= most_) openssl.push_back(by_openssl(run, bytes, suffix));
    for (const uint32_t index : bench_.devices()) {
      size_t at = 0;
      rate_ = 0;
      for (const uint64_t bytes : kSizes)
        if (bytes <= most_ && !try_device(run, index, bytes, suffix, openssl[at++])) break;
    }
    if (load) load->check();
  }

 private:
  // Returns false if the device does not support the case, or would take too long.
  bool try_device(const BenchCase &run, uint32_t index, uint64_t bytes, const std::string &suffix,
                  double openssl) {
    const double most = bench_.quick ? kMostSecondsQuick : kMostSeconds;
    if (const double seconds = expected(bytes); seconds > most) {
      bench_.log.note(fmt::format(
          "S: {}{} of {} bytes on {} is left out: at {:.3g} GB/s it takes {:.3g} "
          "seconds, and a pass has {:.3g} here",
          run.name(), suffix, bytes, bench_.context.device(index).id, rate_, seconds, most));
      return false;
    }
    try {
      by_device(run, index, bytes, suffix, openssl);
      return true;
    } catch (const Error &error) {
      if (error.status() != LC_ERROR_UNSUPPORTED && error.status() != LC_ERROR_NO_DEVICE) throw;
      bench_.log.note(fmt::format("S: {} is left out: {}", run.name(), error.what()));
      return false;
    }
  }

  // Returns the expected seconds of a pass, from the rate at the previous size.
  double expected(uint64_t bytes) const {
    return rate_ == 0 ? 0 : static_cast<double>(bytes) / 1e9 / rate_;
  }

  double by_openssl(const BenchCase &run, uint64_t bytes, const char *suffix) {
    BenchResult &result = add(
        run, fmt::format("openssl{}", suffix), bytes, [&] { return data_.by_openssl(run, bytes); },
        short_patience());
    return result.spread.median;
  }

  void by_device(const BenchCase &run, uint32_t index, uint64_t bytes, const std::string &suffix,
                 double openssl) {
    const bool is_chain = run.cipher.mode == LC_AES_CBC && run.direction == LC_ENCRYPT;
    const std::string api = bench_.context.device(index).api;
    double cpu = 0, wall = 0;
    // A long pass is made only once.
    const Patience patience =
        expected(bytes) > kLongSeconds && is_chain ? Patience{1, 1, 0, false} : short_patience();
    unsigned passes = patience.warms_up ? 0 : 1;
    BenchResult &result = add(
        run, "there-and-back" + suffix + "." + api, bytes,
        [&] {
          const double before = cpu_seconds();
          const double seconds = data_.by_device(bench_.context, index, run, bytes);
          if (passes++ > 0) {
            cpu += cpu_seconds() - before;
            wall += seconds;
          }
          return seconds;
        },
        patience);
    rate_ = result.spread.median;
    result.over_openssl = result.spread.median / openssl;
    data_.check(run, bytes, result.name);
    // With a load, the CPU time of this process includes that of the load.
    if (!suffix.empty() || wall == 0) return;
    const double share = 100 * cpu / wall;
    BenchResult cpu_share{
        fmt::format("S.{}.cpu.{}", run.name(), api), "% of a core", {}, bytes, {}, "", {}};
    cpu_share.spread = {share, share, share, 1};
    if (is_chain) cpu_share.published = 2.7;
    bench_.log.add(std::move(cpu_share));
  }

  BenchResult &add(const BenchCase &run, const std::string &how, uint64_t bytes,
                   const std::function<double()> &seconds, const Patience &patience) {
    const std::string name = fmt::format("S.{}.{}", run.name(), how);
    bench_.log.tell(fmt::format("{}, {} bytes", name, bytes));
    BenchResult result{name, "GB/s", {}, bytes, {}, "wall", {}};
    result.load = load_;
    result.spread = measure_rate(patience, static_cast<double>(bytes) / 1e9, seconds);
    return bench_.log.add(std::move(result));
  }

  Patience short_patience() const {
    return bench_.quick ? Patience{5, 1, 0.1} : Patience{7, 2, 0.1};
  }

  PaperBench &bench_;
  PaperData data_;
  uint64_t most_;
  std::string load_;  // what occupies the cores, if anything
  double rate_ = 0;   // GB/s of the device at the previous size
};

}  // namespace

void paper_s(PaperBench &bench) {
  const bool has_gpu = bench.has_gpu();
  {
    MeasureS measure(bench, !has_gpu ? 16 << 10 : bench.quick ? 32 << 20 : 1 << 30);
    for (const bool loaded : {false, true})
      for (const char *name : {"aes-128-ecb", "aes-128-cbc"})
        for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
          measure.sweep({*cli::find_cipher(name), direction}, loaded);
  }
  paper_s_rsa(bench);
}

}  // namespace lanecrypt::bench
