// SPDX-License-Identifier: Apache-2.0
#include "bench/rsa/rsa.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/rsa/batch.h"
#include "bench/rsa/evp.h"
#include "bench/rsa/keygen.h"
#include "cpu/core_count.h"

namespace lanecrypt::bench {

namespace {

struct DeviceRow {
  std::string name;
  uint32_t device;
  lc_rsa_operation operation;
  size_t count;
};

std::vector<DeviceRow> rows_of(const Context &context, unsigned bits, bool quick,
                               const BenchLog &log) {
  std::vector<DeviceRow> rows;
  const auto add = [&](const DeviceRow &row) {
    if (log.wants(row.name)) rows.push_back(row);
  };
  for (uint32_t index = 0; index < context.device_count(); index++) {
    const lc_device_info info = context.device(index);
    if (!info.selected) continue;
    // The emulator's times mean nothing. It only shows that the command works.
    const size_t most = info.is_gpu ? (quick ? 20000 : 100000 * 2048 / std::max(bits, 2048u)) : 8;
    for (const size_t count : {1, 8, 64, 512, 4096, 32768})
      if (count < most)
        add({fmt::format("rsa-{}.private-batch-{}.{}", bits, count, info.api), index,
             LC_RSA_PRIVATE, count});
    add({fmt::format("rsa-{}.private-batch.{}", bits, info.api), index, LC_RSA_PRIVATE, most});
    add({fmt::format("rsa-{}.public-batch.{}", bits, info.api), index, LC_RSA_PUBLIC, most});
  }
  return rows;
}

}  // namespace

void bench_rsa(const Context &context, const std::string &module, bool quick, BenchLog &log) {
  const std::vector<unsigned> sizes =
      quick ? std::vector<unsigned>{2048} : std::vector<unsigned>{1024, 2048, 3072, 4096, 8192};
  const Patience patience = quick ? Patience{3, 1, 1} : Patience{7, 3, 6};
  for (const unsigned bits : sizes) {
    const std::string name = fmt::format("rsa-{}.private", bits);
    const std::string of_one = name + ".openssl", of_all = name + ".openssl-all-cores";
    const std::vector<DeviceRow> rows = rows_of(context, bits, quick, log);
    if (rows.empty() && !log.wants(of_one) && !log.wants(of_all)) continue;
    log.tell(name + ": making a key");
    const BenchRsaKey key(bits);
    log.tell(of_one);
    const Spread one = openssl_rsa_rate(key, 1, patience);
    log.add({of_one, "op/s", one, {}, {}, "wall", {}});
    if (log.wants(of_all)) {
      const Spread all = openssl_rsa_rate(key, cpu::usable_cores(), patience);
      log.add({of_all, "op/s", all, {}, {}, "wall", {}});
    }
    for (const DeviceRow &row : rows) {
      log.tell(row.name);
      const RsaBatch batch(key, row.count);
      BenchResult result{row.name, "op/s", {}, {}, row.count, "wall", {}};
      result.spread = measure_rate(patience, static_cast<double>(row.count),
                                   [&] { return batch.run(context, row.device, row.operation); });
      if (row.operation == LC_RSA_PRIVATE) result.over_openssl = result.spread.median / one.median;
      batch.check(row.operation, row.name);
      log.add(std::move(result));
    }
  }
  bench_evp(context, module, quick, log);
  bench_keygen(context, quick, log);
}

}  // namespace lanecrypt::bench
