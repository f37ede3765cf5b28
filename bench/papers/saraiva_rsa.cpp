// S: Saraiva 2013, RSA. Key generation, 1 to 100 keys at once, with CPU seconds; private
// operations, 1 to 15 and up to 100,000 at once. Times are seconds of a whole call, as in the
// paper. Work that would take one core too long is calculated from a smaller amount, in rows
// whose names say so.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "bench/papers/case.h"
#include "bench/rsa/batch.h"
#include "bench/rsa/keygen.h"
#include "cli/failure.h"
#include "cpu/core_count.h"

namespace lanecrypt::bench {
namespace {

struct PaperKeys {
  unsigned bits;
  double one_gpu, one_cpu, hundred_gpu, hundred_cpu;  // seconds for keys
  double message_gpu, message_cpu;                    // seconds for one message
};
constexpr PaperKeys kPaper[] = {{1024, 0.107, 0.038, 0.816, 4.35, 1.65, 0.074},
                                {2048, 0.131, 0.192, 0.997, 16.1, 6.63, 0.45},
                                {4096, 0.225, 2.18, 11.6, 158.8, 12.3, 2.9}};

class MeasureRsa {
 public:
  explicit MeasureRsa(PaperBench &bench) : bench_(bench), has_gpu_(bench.has_gpu()) {
    for (const uint32_t index : bench.devices())
      if (std::string_view(bench.context.device(index).api) != "gl")
        devices_.push_back(index);
      else
        bench.log.note("S: OpenGL does no RSA: " + std::string(bench.context.device(index).id) +
                       " is left out of it");
  }

  bool has_gpu() const { return has_gpu_; }

  void keys(const PaperKeys &paper) {
    const std::string name = fmt::format("S.rsa-{}.keys", paper.bits);
    double each = 0;  // OpenSSL's seconds per key, from the largest number made so far
    for (const uint64_t count : {1, 2, 5, 10, 100}) {
      if (!has_gpu_ && count > 2) break;
      const auto published = [&](double one, double hundred) -> std::optional<double> {
        if (count == 1) return one;
        if (count == 100) return hundred;
        return {};
      };
      const std::optional<double> of_cpu = published(paper.one_cpu, paper.hundred_cpu);
      const double seconds = each * static_cast<double>(count);
      if (seconds <= affordable()) {
        each = timed(name, "openssl", count, of_cpu, patience_for(seconds),
                     [&] {
                       return make_keys_by_openssl(paper.bits, 1, static_cast<unsigned>(count));
                     }) /
               static_cast<double>(count);
      } else {
        reckoned(name, count, seconds, of_cpu);
      }
      for (const uint32_t index : devices_)
        timed(name, bench_.context.device(index).api, count,
              published(paper.one_gpu, paper.hundred_gpu), {7, 2, bench_.quick ? 0.5 : 1},
              [&] { return make_keys(bench_.context, index, paper.bits, count); });
      if (count < 100 || bench_.quick) continue;
      // Uses all cores. The paper has no figure for that, since its CPU used one core.
      timed(name, "openssl-cores", count, {}, patience_for(seconds), [&] {
        return make_keys_by_openssl(paper.bits, cpu::usable_cores(), static_cast<unsigned>(count));
      });
    }
  }

  void operations(const PaperKeys &paper) {
    const std::string name = fmt::format("S.rsa-{}.private", paper.bits);
    bench_.log.tell(name);
    const BenchRsaKey key(paper.bits);
    const Spread rate = openssl_rsa_rate(key, 1, {3, 1, bench_.quick ? 0.3 : 1});
    std::vector<uint64_t> counts;
    for (uint64_t count = 1; count <= 15; count++) counts.push_back(count);
    counts.insert(counts.end(), {100, 1000, 10000, 100000});
    for (const uint64_t count : counts) {
      if (count > (!has_gpu_ ? 2u : bench_.quick ? 1000u : 100000u)) break;
      operations_by_openssl(name, key, count, rate,
                            count == 1 ? std::optional(paper.message_cpu) : std::nullopt);
      for (const uint32_t index : devices_) {
        const std::string row = fmt::format("{}.{}", name, bench_.context.device(index).api);
        bench_.log.tell(fmt::format("{}, {} at once", row, count));
        const RsaBatch batch(key, count);
        BenchResult result{row, "s", {}, {}, count, "wall", {}};
        result.spread = measure_seconds(
            {7, 2, 0.2}, [&] { return batch.run(bench_.context, index, LC_RSA_PRIVATE); });
        result.over_openssl = static_cast<double>(count) / rate.median / result.spread.median;
        if (count == 1) result.published = paper.message_gpu;
        batch.check(LC_RSA_PRIVATE, row);
        bench_.log.add(std::move(result));
      }
    }
  }

 private:
  // The most seconds that one core may take. Work that would take longer is calculated.
  double affordable() const { return bench_.quick ? 1 : 14; }

  // Returns the patience for work that is expected to take `seconds`.
  Patience patience_for(double seconds) const {
    if (seconds > 0.5) return {0, 0, 0};
    return {7, 2, bench_.quick ? 0.3 : 1};
  }

  // Runs one operation after another on one core.
  void operations_by_openssl(const std::string &name, const BenchRsaKey &key, uint64_t count,
                             const Spread &rate, std::optional<double> published) {
    constexpr double kAffordable = 1;
    const double seconds = static_cast<double>(count) / rate.median;
    if (seconds > kAffordable) return reckoned(name, count, seconds, published);
    const std::vector<uint8_t> in(key.bytes(), 0x15);
    std::vector<uint8_t> out(key.bytes());
    BenchResult result{name + ".openssl", "s", {}, {}, count, "wall", {}, published};
    result.spread = measure_seconds({7, 2, 0.1}, [&] {
      uint64_t begun = 0;
      const double taken = seconds_of([&] {
        key.run_openssl(true, [&](const uint8_t **from, uint8_t **to) {
          *from = in.data();
          *to = out.data();
          return begun++ < count;
        });
      });
      if (begun <= count)
        throw cli::Failure(cli::ExitCode::kFailed, "OpenSSL refuses an RSA operation");
      return taken;
    });
    bench_.log.add(std::move(result));
  }

  // Adds a row for work that was not run, calculated from the rate of a smaller amount.
  void reckoned(const std::string &name, uint64_t count, double seconds,
                std::optional<double> published) {
    bench_.log.add({name + ".openssl-reckoned",
                    "s",
                    {seconds, seconds, seconds, 1},
                    {},
                    count,
                    "",
                    {},
                    published});
  }

  // Measures `run`. If `patience` has no runs, calls it once without warming up. Adds a row of
  // the seconds and one of the CPU seconds. Returns the median of the seconds.
  double timed(const std::string &name, const std::string &where, uint64_t count,
               std::optional<double> published, const Patience &patience,
               const std::function<double()> &run) {
    bench_.log.tell(fmt::format("{}.{}, {} keys", name, where, count));
    std::vector<double> cpu;
    BenchResult result{
        fmt::format("{}.{}", name, where), "s", {}, {}, count, "wall", {}, published};
    const auto once = [&] {
      const double before = cpu_seconds(), seconds = run();
      cpu.push_back(cpu_seconds() - before);
      return seconds;
    };
    if (patience.runs == 0) {
      result.spread = spread_of({once()});
    } else {
      result.spread = measure_seconds(patience, once);
      cpu.erase(cpu.begin());  // the run that warms up
    }
    BenchResult of_cpu{fmt::format("{}-cpu.{}", name, where), "CPU s", {}, {}, count, "", {}};
    of_cpu.spread = spread_of(std::move(cpu));
    const double median = result.spread.median;
    bench_.log.add(std::move(result));
    bench_.log.add(std::move(of_cpu));
    return median;
  }

  PaperBench &bench_;
  const bool has_gpu_;
  std::vector<uint32_t> devices_;  // those that support RSA
};

}  // namespace

void paper_s_rsa(PaperBench &bench) {
  MeasureRsa measure(bench);
  for (const PaperKeys &paper : kPaper) {
    if (!measure.has_gpu() && paper.bits > 1024) break;
    measure.operations(paper);
    measure.keys(paper);
  }
}

}  // namespace lanecrypt::bench
