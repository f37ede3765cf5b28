// M: Manavski 2007. AES-128 and AES-256 against size: the kernel's time, the total
// with both copies, and OpenSSL.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "failure.h"
#include "paper_case.h"

namespace lanecrypt::cli {
namespace {

constexpr uint64_t kPeakBytes = 8 << 20;  // where the paper has its peak

std::optional<double> published(const BenchCase &run, uint64_t bytes) {
  if (bytes != kPeakBytes || run.direction != LC_ENCRYPT) return {};
  return (run.cipher.key_bytes == 16 ? 8.28 : 6.65) / 8;  // Gbit/s there
}

class MeasureM {
 public:
  MeasureM(PaperBench &bench, uint64_t most)
      : bench_(bench), data_(bench.context, most, true), most_(most) {
    for (uint64_t bytes = 1 << 10; bytes <= most; bytes *= bench.quick ? 64 : 8)
      sizes_.push_back(bytes);
    if (most >= kPeakBytes && std::count(sizes_.begin(), sizes_.end(), kPeakBytes) == 0)
      sizes_.push_back(kPeakBytes);
    if (sizes_.back() < most) sizes_.push_back(most);
    std::sort(sizes_.begin(), sizes_.end());
  }

  void openssl(const BenchCase &run) {
    for (const uint64_t bytes : sizes_)
      add(run, "openssl", bytes, [&] { return data_.by_openssl(run, bytes); });
  }

  void device(uint32_t index, const BenchCase &run) {
    const std::string api = bench_.context.device(index).api;
    CardData card(bench_.context, index, data_.data(), most_);
    card.fill_from(data_.in());
    for (const uint64_t bytes : sizes_) {
      const std::string kernel = "kernel." + api, total = "total." + api;
      add(run, kernel, bytes, [&] { return card.by_kernel(run, bytes); });
      bench_.results.back().clock = card.clock();
      card.read_to(data_.out(), bytes);
      data_.check(run, bytes, kernel);
      add(run, total, bytes, [&] { return data_.by_device(bench_.context, index, run, bytes); });
      data_.check(run, bytes, total);
    }
  }

 private:
  void add(const BenchCase &run, const std::string &how, uint64_t bytes,
           const std::function<double()> &seconds) {
    const std::string name = fmt::format("M.{}.{}", run.name(), how);
    bench_.tell(fmt::format("{}, {} bytes", name, bytes));
    BenchResult result{name, "GB/s", {}, bytes, {}, "wall", {}};
    const Patience patience = bench_.quick ? Patience{5, 2, 0.1} : Patience{9, 3, 0.08};
    result.spread = measure_rate(patience, static_cast<double>(bytes) / 1e9, seconds);
    if (how != "openssl") result.published = published(run, bytes);
    bench_.add(std::move(result));
  }

  PaperBench &bench_;
  PaperData data_;
  uint64_t most_;
  std::vector<uint64_t> sizes_;
};

}  // namespace

void paper_m(PaperBench &bench) {
  const bool has_gpu = bench.has_gpu();
  const uint64_t most = !has_gpu ? 1 << 16 : bench.quick ? 64 << 20 : 256 << 20;
  MeasureM measure(bench, most);
  for (const char *name : {"aes-128-ecb", "aes-256-ecb"})
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
      const BenchCase run{*find_cipher(name), direction};
      measure.openssl(run);
      for (const uint32_t index : bench.devices()) measure.device(index, run);
    }
}

}  // namespace lanecrypt::cli
