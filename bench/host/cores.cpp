// SPDX-License-Identifier: Apache-2.0
#include "bench/host/cores.h"

#include <fmt/format.h>

#include <cstring>

#include "bench/load/evp_update.h"
#include "bench/load/openssl.h"
#include "bench/load/reference.h"
#include "bench/report/turns.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

constexpr uint64_t kUnitBytes = 4 << 10;  // an XTS data unit: a sector

struct Variant {
  BenchCase run;
  bool is_in_place;
};

std::vector<Variant> variants() {
  return {{EvpUpdate::usual(), true},
          {EvpUpdate::usual(), false},
          {{*cli::find_cipher("aes-256-cbc"), LC_DECRYPT}, true},
          {xts_case("256", LC_ENCRYPT, kUnitBytes), true}};
}

}  // namespace

void bench_host_cores(uint64_t bytes, unsigned runs, const BenchData &data, BenchLog &log) {
  for (const Variant &variant : variants()) {
    const std::string row = fmt::format("{}.ordinary-{}-4KiB-pages", variant.run.name(),
                                        variant.is_in_place ? "in-place" : "apart");
    const std::string one = row + ".openssl", several = row + ".cores";
    if (!log.wants(one) && !log.wants(several)) continue;
    log.tell(fmt::format("{}, {} bytes", row, bytes));
    const OrdinaryMemory in(bytes), out(bytes);
    data.fill(0, {in.data(), bytes});
    const Reference reference(variant.run, data, in.data(), bytes);
    const uint8_t *const from = variant.is_in_place ? out.data() : in.data();
    const Context context("none", LC_FALLBACK_NONE);
    const Messages messages(variant.run, data, from, out.data(), bytes);
    OpensslCipher openssl(variant.run);
    const auto prepare = [&] {
      if (variant.is_in_place) std::memcpy(out.data(), in.data(), bytes);
    };
    std::vector<Contender> contenders = {
        {one, bytes, [&] { openssl_pass(openssl, variant.run, data, from, out.data(), bytes); },
         [&] { reference.check(out.data(), one); }, prepare},
        {several, bytes,
         [&] {
           lc_cipher_job job = messages.job();
           job.device = LC_CPU;
           (void)context.run(job);
         },
         [&] { reference.check(out.data(), several); }, prepare}};
    std::erase_if(contenders, [&](const Contender &one_of) { return !log.wants(one_of.name); });
    measure_contenders(contenders, runs, {}, log);
  }
}

}  // namespace lanecrypt::bench
