// SPDX-License-Identifier: Apache-2.0
#include "bench/report/turns.h"

#include <sys/resource.h>

#include "bench/load/pass.h"
#include "bench/report/log.h"

namespace lanecrypt::bench {
namespace {

struct Found {
  std::vector<double> rates, cpu, cores, submit;
  bool is_left_out = false;
};

// Also counts the finished child processes.
double all_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return cpu_seconds() + seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

void in_turn(unsigned rounds, size_t count,
             const std::function<void(unsigned round, size_t who)> &run) {
  for (unsigned round = 0; round < rounds; ++round)
    for (size_t n = 0; n < count; ++n) run(round, round % 2 == 0 ? n : count - 1 - n);
}

void measure_contenders(const std::vector<Contender> &contenders, unsigned runs,
                        std::optional<uint64_t> streams, BenchLog &log) {
  std::vector<Found> found(contenders.size());
  in_turn(runs + 1, contenders.size(), [&](unsigned round, size_t who) {
    const Contender &contender = contenders[who];
    Found &own = found[who];
    if (own.is_left_out) return;
    if (contender.prepare) contender.prepare();
    double cpu = all_cpu_seconds(), seconds = 0;
    own.is_left_out = !log.unless_unsupported([&] { seconds = seconds_of(contender.run); });
    cpu = all_cpu_seconds() - cpu;
    if (own.is_left_out) return;
    if (contender.check) contender.check();
    if (round == 0) return;  // warms up caches, clocks and pages
    const double gigabytes = static_cast<double>(contender.bytes) / 1e9;
    own.rates.push_back(gigabytes / seconds);
    own.cpu.push_back(1e3 * cpu / gigabytes);
    own.cores.push_back(cpu / seconds);
    if (contender.submit_seconds) own.submit.push_back(1e3 * contender.submit_seconds());
  });
  std::optional<double> openssl;
  for (size_t n = 0; n < found.size() && !openssl; ++n)
    if (contenders[n].name.ends_with(".openssl")) openssl = spread_of(found[n].rates).median;
  for (size_t n = 0; n < found.size(); ++n) {
    if (found[n].is_left_out) continue;
    const Contender &contender = contenders[n];
    BenchResult rate{contender.name, "GB/s", spread_of(found[n].rates), contender.bytes, streams,
                     "wall",         {}};
    rate.cores_busy = spread_of(found[n].cores).median;
    if (openssl) rate.over_openssl = rate.spread.median / *openssl;
    log.add(std::move(rate));
    log.add({contender.name + ".cpu",
             "ms/GB",
             spread_of(found[n].cpu),
             contender.bytes,
             streams,
             "",
             {}});
    if (!found[n].submit.empty())
      log.add({contender.name + ".submit",
               "ms",
               spread_of(found[n].submit),
               contender.bytes,
               streams,
               "wall",
               {}});
  }
}

}  // namespace lanecrypt::bench
