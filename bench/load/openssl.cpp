// SPDX-License-Identifier: Apache-2.0
#include "bench/load/openssl.h"

#include <algorithm>
#include <thread>

#include "bench/load/pass.h"
#include "cpu/core_count.h"

namespace lanecrypt::bench {

void openssl_pass(OpensslCipher &openssl, const BenchCase &run, const BenchData &data,
                  const uint8_t *in, uint8_t *out, uint64_t bytes, uint64_t first) {
  const uint64_t step = run.stream_bytes != 0 ? run.stream_bytes : bytes;
  for (uint64_t done = 0; done < bytes; done += step) {
    openssl.begin(done == 0 ? data.key() : nullptr,
                  data.iv(run, run.stream_bytes != 0 ? first + done / step : 0));
    openssl.update(in + done, out + done, std::min(step, bytes - done));
  }
}

OpensslCores::OpensslCores(const BenchCase &run, const BenchData &data, uint64_t bytes)
    : run_(run), data_(data) {
  const uint64_t part = run.part_bytes(), parts = std::max<uint64_t>(bytes / part, 1);
  const uint64_t cores = std::min<uint64_t>(cpu::usable_cores(), parts);
  share_ = parts / cores * part;
  while (ciphers_.size() < cores) ciphers_.emplace_back(run);
}

void OpensslCores::pass(const uint8_t *in, uint8_t *out, int times) {
  std::vector<std::thread> threads;
  for (size_t core = 0; core < ciphers_.size(); core++)
    threads.emplace_back([this, core, in, out, times] {
      const uint64_t at = core * share_;
      const uint64_t first = run_.stream_bytes != 0 ? at / run_.stream_bytes : 0;
      for (int n = 0; n < times; n++)
        openssl_pass(ciphers_[core], run_, data_, in + at, out + at, share_, first);
    });
  for (std::thread &thread : threads) thread.join();
}

OpensslRates::OpensslRates(const Patience &patience, uint64_t bytes, const BenchData &data)
    : patience_(patience), data_(data), in_(bytes), out_(bytes) {
  data.fill(0, in_);
}

BenchResult OpensslRates::measure(const BenchCase &run, uint64_t bytes, const std::string &name) {
  OpensslCipher openssl(run);
  // One short request takes less time than the clock can resolve.
  const uint64_t repeats = std::max<uint64_t>(1, (1 << 16) / bytes);
  const auto once = [&] {
    for (uint64_t r = 0; r < repeats; r++)
      openssl_pass(openssl, run, data_, in_.data(), out_.data(), bytes);
  };
  BenchResult result{name, "GB/s", {}, bytes, {}, "wall", 1.0};
  result.spread = measure_rate(patience_, static_cast<double>(bytes * repeats) / 1e9,
                               [&] { return seconds_of(once); });
  if (run.stream_bytes != 0) result.streams = bytes / run.stream_bytes;
  return result;
}

BenchResult OpensslRates::measure_on_all_cores(const BenchCase &run, const std::string &name) {
  // With this many passes the start of the threads takes a small part of the time.
  constexpr int kPasses = 4;
  OpensslCores cores(run, data_, in_.size());
  BenchResult result{name, "GB/s", {}, cores.bytes(), {}, "wall", {}};
  result.spread = measure_rate(patience_, static_cast<double>(cores.bytes() * kPasses) / 1e9, [&] {
    return seconds_of([&] { cores.pass(in_.data(), out_.data(), kPasses); });
  });
  return result;
}

std::optional<double> OpensslRates::of(const BenchCase &run, uint64_t bytes) const {
  const auto by_bytes = rates_.find(run.name());
  if (by_bytes == rates_.end()) return std::nullopt;
  auto above = by_bytes->second.upper_bound(bytes);
  if (above != by_bytes->second.begin()) --above;
  return above->second;
}

}  // namespace lanecrypt::bench
