// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "bench/papers/harrison.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

constexpr struct {
  const char *name;
  gl2007::Xor xor_by;
  std::optional<double> alone, back;  // the paper's GB/s with a GeForce 7900 GT
} kWays[] = {
    {"table8", gl2007::Xor::kTable8, 0.672, 0.335},
    {"table4", gl2007::Xor::kTable4, 3.510, 0.473},
    {"raster", gl2007::Xor::kRaster, 12.249, 0.475},
    {"integer", gl2007::Xor::kInteger, {}, {}},
};

// Returns the size of the paper's textures, 1024 x 1024 of four bytes, and a size that fills a
// current GPU.
std::vector<uint64_t> sizes_of(const GlBench &gl) {
  if (!gl.is_gpu()) return {64 << 10};
  return gl.is_small() ? std::vector<uint64_t>{4 << 20} : std::vector<uint64_t>{4 << 20, 32 << 20};
}

class MeasureXor {
 public:
  MeasureXor(const GlBench &gl, uint64_t bytes)
      : gl_(gl), bytes_(bytes), a_(bytes), b_(bytes), want_(bytes), got_(bytes) {
    BenchData().fill(0, a_);
    BenchData().fill(0, b_);
    // Makes the data contain all pairs of bytes.
    for (uint32_t n = 0; n < 1 << 16; n++) {
      a_[n] = static_cast<uint8_t>(n >> 8);
      b_[n] = static_cast<uint8_t>(n);
    }
  }

  void on_core() {
    add("core", {}, [&] {
      return seconds_of([&] {
        for (uint64_t n = 0; n < bytes_; n += sizeof(uint64_t)) {
          uint64_t a = 0, b = 0;
          std::memcpy(&a, a_.data() + n, sizeof a);
          std::memcpy(&b, b_.data() + n, sizeof b);
          a ^= b;
          std::memcpy(want_.data() + n, &a, sizeof a);
        }
      });
    });
  }

  void way(const Context &context, const std::string &name, std::optional<double> alone,
           std::optional<double> back) {
    const DeviceBuffer a = context.on_device(0, bytes_), b = context.on_device(0, bytes_),
                       out = context.on_device(0, bytes_);
    const auto run = [&](uint32_t times) {
      return seconds_of([&] {
        // In a build without gl2007, GlBench::with() calls none of this.
        if constexpr (gl2007::kIsHere)
          lanecrypt::check(
              lc_gl2007_xor(context.get(), a.address(), b.address(), out.address(), bytes_, times));
      });
    };
    const std::string of_api = "." + gl_.api();
    add(name + ".there-and-back" + of_api, back, [&] {
      return seconds_of([&] {
        a.fill_from(a_.data(), bytes_);
        b.fill_from(b_.data(), bytes_);
        run(1);
        out.read_to(got_.data(), bytes_);
      });
    });
    check(name);
    // Subtracts the time that one draw and many draws have in common, because it does not belong
    // to a draw.
    const uint32_t times = draws_for(run);
    BenchResult &on_card = add(name + ".card" + of_api, alone, [&] {
      const double many = run(times), one = run(1);
      // On a busy machine one draw may take longer than many.
      return many > one ? (many - one) / (times - 1) : many / times;
    });
    out.read_to(got_.data(), bytes_);
    check(name);
    on_card.streams = times;
  }

 private:
  // Returns an odd number of draws that takes long enough for the clock.
  uint32_t draws_for(const std::function<double(uint32_t)> &run) const {
    constexpr double kEnoughSeconds = 0.02;
    constexpr uint32_t kMost = 4001;
    if (!gl_.is_gpu()) return 3;
    uint32_t times = 11;
    while (times < kMost && run(times) - run(1) < kEnoughSeconds)
      times = std::min(kMost, times * 5);
    return times;
  }

  BenchResult &add(const std::string &how, std::optional<double> of_paper,
                   const std::function<double()> &seconds) {
    const std::string name = "H.xor." + how;
    gl_.bench().log.tell(fmt::format("{}, {} bytes", name, bytes_));
    BenchResult result{name, "GB/s", {}, bytes_, {}, "wall", {}, of_paper};
    const Patience patience = gl_.is_small() ? Patience{3, 1, 0.05} : Patience{9, 3, 0.3};
    result.spread = measure_rate(patience, static_cast<double>(bytes_) / 1e9, seconds);
    return gl_.bench().log.add(std::move(result));
  }

  void check(const std::string &name) {
    if (got_ != want_) throw cli::Failure(cli::ExitCode::kFailed, name + " XORed wrongly");
    std::fill(got_.begin(), got_.end(), 0);
  }

  const GlBench &gl_;
  const uint64_t bytes_;
  std::vector<uint8_t> a_, b_, want_, got_;
};

}  // namespace

void paper_h_places(const GlBench &gl) {
  // Only desktop OpenGL can query this.
  gl.with({"multiprocessors", gl2007::Way{.xor_by = gl2007::Xor::kRaster}},
          [&](const Context &context) {
            std::vector<uint32_t> places(size_t{4} << 20);
            const uint64_t bytes = places.size() * sizeof places[0];
            const DeviceBuffer out = context.on_device(0, bytes);
            try {
              if constexpr (gl2007::kIsHere)
                lanecrypt::check(lc_gl2007_places(context.get(), out.address(), bytes));
            } catch (const Error &error) {
              gl.bench().log.note(fmt::format(
                  "H: on which multiprocessors fragments run is not known: {}", error.what()));
              return;
            }
            out.read_to(places.data(), bytes);
            std::set<uint32_t> seen;
            for (size_t n = 0; n < places.size(); n += 4) seen.insert(places[n]);
            const auto add = [&](const char *which, uint32_t count) {
              const double value = count;
              gl.bench().log.add({fmt::format("H.multiprocessors.{}.{}", which, gl.api()),
                                  "multiprocessors",
                                  {value, value, value, 1},
                                  bytes,
                                  {},
                                  "",
                                  {}});
            };
            add("of-fragments", static_cast<uint32_t>(seen.size()));
            add("of-the-chip", places[1]);
          });
}

void paper_h_xor(const GlBench &gl) {
  std::vector<std::unique_ptr<MeasureXor>> sizes;
  for (const uint64_t bytes : sizes_of(gl)) {
    sizes.push_back(std::make_unique<MeasureXor>(gl, bytes));
    sizes.back()->on_core();
  }
  for (const auto &way : kWays)
    gl.with({way.name, gl2007::Way{.xor_by = way.xor_by}}, [&](const Context &context) {
      for (const auto &size : sizes) size->way(context, way.name, way.alone, way.back);
    });
}

}  // namespace lanecrypt::bench
