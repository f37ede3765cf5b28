// SPDX-License-Identifier: Apache-2.0
#include "bench/rsa/keygen.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <atomic>
#include <chrono>

#include "bench/load/on_threads.h"
#include "cli/failure.h"
#include "cpu/core_count.h"

namespace lanecrypt::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

double make_keys(const Context &context, uint32_t device, unsigned bits, uint64_t count) {
  lc_rsa_generation generation{};
  generation.struct_size = sizeof generation;
  generation.bits = bits;
  generation.count = count;
  generation.device = device;
  generation.has_device = 1;
  uint64_t made = 0;
  generation.on_key = [](void *argument, uint64_t, const lc_rsa_parts *) {
    ++*static_cast<uint64_t *>(argument);
    return 1;
  };
  generation.argument = &made;
  const auto start = Clock::now();
  const lc_result result = context.generate(generation);
  const double seconds = seconds_since(start);
  if (made != count || result.cpu_operations != 0 || result.failed_checks != 0)
    throw cli::Failure(cli::ExitCode::kFailed,
                       fmt::format("{} of {} keys of {} bits were made, and not all by the device",
                                   made, count, bits));
  return seconds;
}

double make_keys_by_openssl(unsigned bits, unsigned cores, unsigned count) {
  std::atomic<unsigned> next{0}, missing{count};
  const auto start = Clock::now();
  on_threads(cores, [&](unsigned) {
    while (next++ < count) {
      EVP_PKEY *key = EVP_PKEY_Q_keygen(nullptr, "provider=default", "RSA", size_t{bits});
      if (key != nullptr) --missing;
      EVP_PKEY_free(key);
    }
  });
  if (missing != 0) throw cli::Failure(cli::ExitCode::kFailed, "OpenSSL made no RSA key");
  return seconds_since(start);
}

namespace {

struct DeviceRow {
  std::string name;
  uint32_t device;
};

// Returns the wanted rows of `name` on the selected devices.
std::vector<DeviceRow> rows_of(const Context &context, const std::string &name,
                               const BenchLog &log) {
  std::vector<DeviceRow> rows;
  for (uint32_t index = 0; index < context.device_count(); index++) {
    const lc_device_info info = context.device(index);
    const std::string row = fmt::format("{}.{}", name, info.api);
    if (info.selected && log.wants(row)) rows.push_back({row, index});
  }
  return rows;
}

}  // namespace

void bench_keygen(const Context &context, bool quick, BenchLog &log) {
  const unsigned cores = cpu::usable_cores();
  const std::vector<unsigned> lone =
      quick ? std::vector<unsigned>{4096} : std::vector<unsigned>{2048, 4096, 8192};
  const std::vector<unsigned> bulk =
      quick ? std::vector<unsigned>{2048} : std::vector<unsigned>{2048, 4096};
  // OpenSSL needs about 15 s for a key of 8192 bits.
  const Patience of_openssl = quick ? Patience{5, 1, 2, false} : Patience{15, 3, 10, false};
  const Patience of_device = quick ? Patience{11, 3, 5} : Patience{41, 9, 20};
  bool has_gpu = false;
  for (uint32_t index = 0; index < context.device_count(); index++)
    has_gpu |= context.device(index).selected && context.device(index).is_gpu;
  for (const unsigned bits : has_gpu ? lone : std::vector<unsigned>{1024}) {
    const std::string name = fmt::format("rsa-{}.keygen-one", bits);
    const std::vector<DeviceRow> rows = rows_of(context, name, log);
    if (rows.empty() && !log.wants(name + ".openssl")) continue;
    log.tell(name + ".openssl");
    const Spread openssl =
        measure_seconds(of_openssl, [&] { return make_keys_by_openssl(bits, 1, 1); });
    log.add({name + ".openssl", "s", openssl, {}, {}, "wall", {}});
    for (const DeviceRow &row : rows) {
      log.tell(row.name);
      BenchResult result{row.name, "s", {}, {}, 1, "wall", {}};
      result.spread =
          measure_seconds(of_device, [&] { return make_keys(context, row.device, bits, 1); });
      result.over_openssl = openssl.median / result.spread.median;
      log.add(std::move(result));
    }
  }
  for (const unsigned bits : has_gpu ? bulk : std::vector<unsigned>{1024}) {
    const std::string name = fmt::format("rsa-{}.keygen-bulk", bits);
    const std::string of_cores = name + ".openssl-all-cores";
    if (log.wants(of_cores)) {
      log.tell(of_cores);
      const unsigned each = bits <= 2048 ? 8 : 2;
      const Spread openssl = measure_rate(of_openssl, double{1} * cores * each, [&] {
        return make_keys_by_openssl(bits, cores, cores * each);
      });
      log.add({of_cores, "keys/s", openssl, {}, {}, "wall", {}});
    }
    for (const DeviceRow &row : rows_of(context, name, log)) {
      // Enough keys that the beginning and the end of a run count for little. The emulator's
      // times mean nothing; it only shows that the command works.
      const uint64_t of_gpu = quick ? 4000 : bits <= 2048 ? 20000 : 6000;
      const uint64_t count = context.device(row.device).is_gpu ? of_gpu * 2048 / bits : 8;
      log.tell(row.name);
      BenchResult result{row.name, "keys/s", {}, {}, count, "wall", {}};
      result.spread = measure_rate({5, 3, quick ? 2.0 : 10.0}, static_cast<double>(count),
                                   [&] { return make_keys(context, row.device, bits, count); });
      log.add(std::move(result));
    }
  }
}

}  // namespace lanecrypt::bench
