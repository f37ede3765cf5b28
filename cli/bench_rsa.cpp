// SPDX-License-Identifier: Apache-2.0
#include "bench_rsa.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench_keygen.h"
#include "bench_rsa_batch.h"

namespace lanecrypt::cli {

std::vector<BenchResult> bench_rsa(const Context &context, bool quick,
                                   const std::function<void(const std::string &)> &tell) {
  const std::vector<unsigned> sizes =
      quick ? std::vector<unsigned>{2048} : std::vector<unsigned>{1024, 2048, 3072, 4096, 8192};
  const Patience patience = quick ? Patience{3, 1, 1} : Patience{7, 3, 6};
  std::vector<BenchResult> results;
  for (const unsigned bits : sizes) {
    const std::string name = fmt::format("rsa-{}.private", bits);
    tell(name + ": making a key");
    const BenchRsaKey key(bits);
    tell(name + ".openssl");
    const Spread one = openssl_rsa_rate(key, 1, patience);
    results.push_back({name + ".openssl", "op/s", one, {}, {}, "wall", {}});
    results.push_back({name + ".openssl-all-cores",
                       "op/s",
                       openssl_rsa_rate(key, core_count(), patience),
                       {},
                       {},
                       "wall",
                       {}});
    for (uint32_t index = 0; index < context.device_count(); index++) {
      const lc_device_info info = context.device(index);
      if (!info.selected) continue;
      // The emulator is no measure of anything; it shows that the command works.
      const size_t most = info.is_gpu ? (quick ? 20000 : 100000 * 2048 / std::max(bits, 2048u)) : 8;
      std::vector<size_t> counts = {1, 8, 64, 512, 4096, 32768, most};
      counts.erase(
          std::remove_if(counts.begin(), counts.end(), [&](size_t count) { return count > most; }),
          counts.end());
      for (const size_t count : counts) {
        const bool is_last = count == most;
        const std::string row = is_last ? fmt::format("{}-batch.{}", name, info.api)
                                        : fmt::format("{}-batch-{}.{}", name, count, info.api);
        tell(row);
        const RsaBatch batch(key, count);
        BenchResult result{row, "op/s", {}, {}, count, "wall", {}};
        result.spread = measure_rate(patience, static_cast<double>(count),
                                     [&] { return batch.run(context, index, LC_RSA_PRIVATE); });
        result.over_openssl = result.spread.median / one.median;
        batch.check(LC_RSA_PRIVATE, row);
        results.push_back(std::move(result));
        if (!is_last) continue;
        const std::string verify = fmt::format("rsa-{}.public-batch.{}", bits, info.api);
        tell(verify);
        BenchResult of_public{verify, "op/s", {}, {}, count, "wall", {}};
        of_public.spread = measure_rate(patience, static_cast<double>(count),
                                        [&] { return batch.run(context, index, LC_RSA_PUBLIC); });
        batch.check(LC_RSA_PUBLIC, verify);
        results.push_back(std::move(of_public));
      }
    }
  }
  std::vector<BenchResult> of_keys = bench_keygen(context, quick, tell);
  results.insert(results.end(), std::make_move_iterator(of_keys.begin()),
                 std::make_move_iterator(of_keys.end()));
  return results;
}

}  // namespace lanecrypt::cli
