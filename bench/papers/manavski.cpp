// M: Manavski 2007. AES-128 and AES-256 by size: the kernel's time, the total with both copies,
// and OpenSSL. Also encryption by the OpenGL of 2007, with one round per pass.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "bench/papers/gl_bench.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

constexpr uint64_t kPeakBytes = 8 << 20;  // the size of the paper's best rate

std::optional<double> published(const BenchCase &run, uint64_t bytes) {
  if (bytes != kPeakBytes || run.direction != LC_ENCRYPT) return {};
  return (run.cipher.key_bytes == 16 ? 8.28 : 6.65) / 8;  // the paper's Gbit/s
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
    both(bench_.context, index, run, bench_.context.device(index).api, sizes_);
  }

  // Measures the paper's GLSL variant: a table of all pairs of bytes, and one draw per round.
  void old_opengl(const GlBench &gl, const BenchCase &run) {
    gl.with(kTable8Way, [&](const Context &context) {
      std::vector<uint64_t> sizes;
      for (const uint64_t bytes : sizes_)
        if (bytes <= (gl.is_gpu() ? kPeakBytes : 4 << 10)) sizes.push_back(bytes);
      both(context, 0, run, "table8." + gl.api(), sizes);
    });
  }

 private:
  // Measures a case in device memory, and with both copies.
  void both(const Context &context, uint32_t index, const BenchCase &run, const std::string &how,
            const std::vector<uint64_t> &sizes) {
    CardData card(context, index, data_.data(), sizes.back());
    card.fill_from(data_.in());
    for (const uint64_t bytes : sizes) {
      const std::string kernel = "kernel." + how, total = "total." + how;
      add(run, kernel, bytes, [&] { return card.by_kernel(run, bytes); }).clock = card.clock();
      card.read_to(data_.out(), bytes);
      data_.check(run, bytes, kernel);
      add(run, total, bytes, [&] { return data_.by_device(context, index, run, bytes); });
      data_.check(run, bytes, total);
    }
  }

  BenchResult &add(const BenchCase &run, const std::string &how, uint64_t bytes,
                   const std::function<double()> &seconds) {
    const std::string name = fmt::format("M.{}.{}", run.name(), how);
    bench_.log.tell(fmt::format("{}, {} bytes", name, bytes));
    BenchResult result{name, "GB/s", {}, bytes, {}, "wall", {}};
    const Patience patience = bench_.quick ? Patience{5, 2, 0.1} : Patience{9, 3, 0.08};
    result.spread = measure_rate(patience, static_cast<double>(bytes) / 1e9, seconds);
    const bool is_openssl = how == "openssl";
    double &openssl = openssl_[{run.name(), bytes}];
    if (is_openssl)
      openssl = result.spread.median;
    else
      result.over_openssl = result.spread.median / openssl;
    // The paper's figures are for CUDA.
    if (!is_openssl && !how.ends_with(".gl")) result.published = published(run, bytes);
    return bench_.log.add(std::move(result));
  }

  PaperBench &bench_;
  PaperData data_;
  uint64_t most_;
  std::vector<uint64_t> sizes_;
  std::map<std::pair<std::string, uint64_t>, double> openssl_;  // GB/s by case and size
};

}  // namespace

void paper_m(PaperBench &bench) {
  const bool has_gpu = bench.has_gpu();
  const uint64_t most = !has_gpu ? 1 << 16 : bench.quick ? 64 << 20 : 256 << 20;
  MeasureM measure(bench, most);
  const std::optional<lc_device_info> opengl = find_gl(bench.context);
  if (!opengl) bench.log.note("M: no device of OpenGL is here: one round a pass is left out");
  for (const char *name : {"aes-128-ecb", "aes-256-ecb"})
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
      const BenchCase run{*cli::find_cipher(name), direction};
      measure.openssl(run);
      for (const uint32_t index : bench.devices()) measure.device(index, run);
      // The variants for old GPUs can only encrypt.
      if (opengl && direction == LC_ENCRYPT) measure.old_opengl(GlBench(bench, *opengl), run);
    }
}

}  // namespace lanecrypt::bench
