// H: Harrison and Waldron 2007. AES-128 by OpenGL, for each way to XOR, to gather columns and to
// compute a round, and for packets of many sizes.
//
// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/harrison.h"

#include <fmt/format.h>

namespace lanecrypt::bench {
namespace {

struct {
  const char *name;
  gl2007::Xor value;
  double published;  // GB/s with a GeForce 7900 GT, with the round trip over the bus
} constexpr kXors[] = {{"table8", gl2007::Xor::kTable8, 0.026},
                       {"table4", gl2007::Xor::kTable4, 0.039},
                       {"raster", gl2007::Xor::kRaster, 0.109}};

struct {
  const char *name;
  gl2007::Gather value;
} constexpr kGathers[] = {{"multi", gl2007::Gather::kMulti},
                          {"hgather", gl2007::Gather::kRow},
                          {"sgather", gl2007::Gather::kSquare}};

class MeasureH {
 public:
  explicit MeasureH(const GlBench &gl)
      : gl_(gl),
        bytes_(gl.is_gpu() ? uint64_t{gl.is_small() ? 4u : 16u} << 20 : 16 << 10),
        largest_packet_(gl.is_gpu() ? uint64_t{gl.is_small() ? 1u : 32u} << 20 : 16 << 10),
        data_(gl.bench().context, std::max(bytes_, largest_packet_), false) {}

  void openssl() {
    add("openssl", bytes_, {}, [&] { return data_.by_openssl(run_, bytes_); });
    packets("openssl", [&](uint64_t bytes) { return data_.by_openssl(run_, bytes); });
  }

  // Measures CTR, the paper's goal, with enough data to fill a current GPU.
  void counter_mode(const GlWay &way, uint64_t most) {
    gl_.with(way, [&](const Context &context) {
      const BenchCase run{*cli::find_cipher("aes-128-ctr"), LC_ENCRYPT};
      const uint64_t bytes = gl_.is_small() ? bytes_ : most;
      PaperData data(gl_.bench().context, bytes, false);
      const std::string name = fmt::format("H.aes-128-ctr.{}.card.{}", way.name, gl_.api());
      CardData card(context, 0, data.data(), bytes);
      card.fill_from(data.in());
      BenchResult result{name, "GB/s", {}, bytes, {}, "", {}};
      result.spread = measure_rate(patience(), static_cast<double>(bytes) / 1e9,
                                   [&] { return card.by_kernel(run, bytes); });
      result.clock = card.clock();
      card.read_to(data.out(), bytes);
      data.check(run, bytes, name);
      gl_.bench().log.add(std::move(result));
    });
  }

  void way(const GlWay &way, std::optional<double> of_paper, bool has_packets) {
    gl_.with(way, [&](const Context &context) {
      on_card(context, way.name);
      const auto back = [&](uint64_t bytes) { return data_.by_device(context, 0, run_, bytes); };
      const std::string name = way.name + ".there-and-back." + gl_.api();
      add(name, bytes_, of_paper, [&] { return back(bytes_); });
      data_.check(run_, bytes_, name);
      if (has_packets) packets(name, back);
    });
  }

 private:
  void on_card(const Context &context, const std::string &way) {
    const std::string name = way + ".card." + gl_.api();
    const CardData card(context, 0, data_.data(), bytes_);
    card.fill_from(data_.in());
    add(name, bytes_, {}, [&] { return card.by_wall(run_, bytes_); });
    card.read_to(data_.out(), bytes_);
    data_.check(run_, bytes_, name);
  }

  // Measures packets of one size after another. The paper's GPU loses with the small ones.
  void packets(const std::string &how, const std::function<double(uint64_t)> &seconds) {
    for (uint64_t bytes = gl_.is_small() ? 1 << 10 : 16; bytes <= largest_packet_; bytes *= 8) {
      add(how + "-packets", bytes, {}, [&] { return seconds(bytes); });
      // The check has no name for each size, but the plot needs them all.
      if (how != "openssl") data_.check(run_, bytes, how);
    }
  }

  void add(const std::string &how, uint64_t bytes, std::optional<double> of_paper,
           const std::function<double()> &seconds) {
    const std::string name = fmt::format("H.{}.{}", run_.name(), how);
    gl_.bench().log.tell(fmt::format("{}, {} bytes", name, bytes));
    BenchResult result{name, "GB/s", {}, bytes, {}, "wall", {}, of_paper};
    result.spread = measure_rate(patience(), static_cast<double>(bytes) / 1e9, seconds);
    gl_.bench().log.add(std::move(result));
  }

  Patience patience() const { return gl_.is_small() ? Patience{3, 1, 0.05} : Patience{9, 3, 0.15}; }

  const GlBench &gl_;
  const BenchCase run_{*cli::find_cipher("aes-128-ecb"), LC_ENCRYPT};
  const uint64_t bytes_, largest_packet_;
  PaperData data_;
};

}  // namespace

void paper_h(PaperBench &bench) {
  const std::optional<lc_device_info> device = find_gl(bench.context);
  if (!device) {
    bench.log.note(
        "H: no device of OpenGL is here (see lanecrypt devices), and all of H is OpenGL");
    return;
  }
  const GlBench gl(bench, *device);
  MeasureH measure(gl);
  measure.openssl();
  measure.way(kComputeWay, {}, true);
  measure.way(kIntegerWay, {}, true);
  measure.counter_mode(kComputeWay, uint64_t{1} << 30);
  measure.counter_mode(kIntegerWay, uint64_t{256} << 20);
  paper_h_places(gl);
  for (const auto &xor_by : kXors)
    for (const auto &gather : kGathers)
      for (const bool rotates : {true, false}) {
        const bool is_plainest = rotates && gather.value == gl2007::Gather::kMulti;
        // In a quick run one variant of each way to XOR is enough.
        if (gl.is_small() && !is_plainest) continue;
        const GlWay way = {
            fmt::format("{}-{}-{}", xor_by.name, gather.name, rotates ? "rot" : "norot"),
            gl2007::Way{xor_by.value, gather.value, rotates}};
        // The paper has figures for the raster units only with a texture for each column.
        const bool is_published = rotates && (is_plainest || xor_by.value != gl2007::Xor::kRaster);
        measure.way(way, is_published ? std::optional(xor_by.published) : std::nullopt,
                    is_plainest);
      }
  paper_h_xor(gl);
  paper_h_idle(gl);
}

}  // namespace lanecrypt::bench
