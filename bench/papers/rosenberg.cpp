// R: Rosenberg 2007. Whole files, from a RAM disk and from a disk: by OpenSSL, by a device, by a
// cipher that does nothing, and copied to the device and back. Also the CPU time of these and the
// electric power of the GPUs.
//
// SPDX-License-Identifier: Apache-2.0
#include "bench/papers/rosenberg.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "bench/papers/engines.h"
#include "bench/papers/files.h"
#include "bench/papers/gl_bench.h"
#include "bench/report/load_trace.h"
#include "cli/crypt/device_engine.h"
#include "cli/failure.h"
#include "cli/interrupt.h"

namespace lanecrypt::bench {
namespace {

constexpr char kRamDisk[] = "/dev/shm";
// The time limit of the measurements on the disk, which may be slow.
constexpr double kDiskSeconds = 45;
constexpr double kTraceSeconds = 2, kSampleSeconds = 0.02;

// The paper's seconds for a file on its disk, by each engine. The CPU had one core.
struct Published {
  std::optional<double> cpu, device, nothing, copies;
};

// The paper's means of all runs with the GeForce 8800 GTS and CUDA; published_by_gl() has those
// of the GeForce 6800 GT and OpenGL. There are none for files 5 to 7, and one run for file 8.
Published published_by_cuda(const PaperFile &file) {
  constexpr double kCpu[] = {43.2, 40.6, 42.4, 41.8}, kDevice[] = {41.9, 40.5, 41.8, 40.3};
  if (file.number <= 4) return {kCpu[file.number - 1], kDevice[file.number - 1], 34.9, 35.4};
  if (file.number == 8) return {1.08, 2.1, {}, {}};
  return {};
}

Published published_by_gl(const PaperFile &file) {
  constexpr double kDevice[] = {87.5, 82.0, 201.5, 202.4};
  if (file.number <= 4) return {{}, kDevice[file.number - 1], {}, 41.2};
  return {};
}

// The files for which the paper has figures come first, since the disk may be slow. Random files
// come before the others, because they are the paper's simplest.
constexpr unsigned kOrder[] = {4, 8, 1, 2, 3, 7, 6, 5};

using Clock = std::chrono::steady_clock;

class MeasureR {
 public:
  MeasureR(PaperBench &bench, PaperFolder &folder, bool is_disk)
      : bench_(bench),
        folder_(folder),
        is_disk_(is_disk),
        where_(is_disk ? "disk" : "ram"),
        run_(paper_r_case()),
        key_(cli::SecretBytes::copy_of(
            {reinterpret_cast<const char *>(data_.key()), run_.cipher.key_bytes})),
        begin_(Clock::now()) {}

  // Measures all engines for one file. Returns false if there was no room, or not enough time for
  // all.
  bool measure(const PaperFile &file) {
    if (folder_.free_bytes() < 3 * file.bytes + (64 << 20)) return false;
    is_late_ = false;
    write_paper_file(file, path("in"));
    // A file that is smaller than in the paper has no published time.
    const bool is_whole = file.bytes == paper_files(1)[file.number - 1].bytes;
    const Published paper = is_whole ? published_by_cuda(file) : Published{};
    const Published old_paper = is_whole ? published_by_gl(file) : Published{};

    time(file, "openssl", path("cpu"), paper.cpu,
         [&] { return std::make_unique<CpuEngine>(run_, data_); });
    for (const uint32_t index : bench_.devices()) {
      const std::string api = bench_.context.device(index).api;
      const Published known = api == "cuda" ? paper : api == "gl" ? old_paper : Published{};
      if (time(file, api, path("out"), known.device, by_device(only(index))))
        compare_files(path("cpu"), path("out"), name(file, api));
      if (time(file, "copies." + api, path("out"), known.copies,
               [&] { return std::make_unique<CopyEngine>(only(index), 0); }))
        compare_files(path("in"), path("out"), name(file, "copies." + api));
    }
    time(file, "null", path("out"), paper.nothing, [] { return std::make_unique<NullEngine>(); });
    if (is_disk_) return !is_late_;
    time(file, "openssl-cores", path("out"), {},
         [&] { return std::make_unique<CpuEngine>(run_, data_); });
    if (file.number <= 4) by_old_opengl(file, old_paper.device);
    return true;
  }

  // Records CPU use and power over time, while the file is encrypted repeatedly and, for a
  // device, while only its kernels run.
  void trace(const PaperFile &file, const PowerMeter &meter) {
    write_paper_file(file, path("in"));
    const double idle = watch(meter, "R.idle", [](double) {});
    watch(meter, name(file, "openssl"), [&](double seconds) {
      repeat(seconds, "openssl", [&] { return std::make_unique<CpuEngine>(run_, data_); });
    });
    for (const uint32_t index : bench_.devices()) {
      const std::string api = bench_.context.device(index).api;
      add_power(watch(meter, name(file, api),
                      [&](double seconds) { repeat(seconds, api, by_device(only(index))); }),
                idle, name(file, api));
      const std::string on_card = "R.card." + api;
      add_power(watch(meter, on_card, [&](double seconds) { stay_on_card(index, seconds); }), idle,
                on_card);
    }
  }

 private:
  using MakeEngine = std::function<std::unique_ptr<cli::Engine>()>;

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  std::string path(const char *file) const { return folder_.file(file); }
  std::string name(const PaperFile &file, const std::string &how) const {
    return fmt::format("R.file-{}.{}.{}", file.number, where_, how);
  }

  // Returns a context with only this device, as number 0 and already open.
  const Context &only(uint32_t index) {
    std::unique_ptr<Context> &context = contexts_[index];
    if (context == nullptr) {
      context = std::make_unique<Context>(bench_.context.device(index).id, LC_FALLBACK_NONE);
      check(lc_device_test(context->get(), 0));
    }
    return *context;
  }

  MakeEngine by_device(const Context &context) {
    return [this, &context]() -> std::unique_ptr<cli::Engine> {
      return std::make_unique<cli::DeviceEngine>(context, run_.cipher, true, key_, progress_);
    };
  }

  // Measures the method of the paper's first device: a table of all pairs of bytes. It also shows
  // whether the time depends on the data.
  void by_old_opengl(const PaperFile &file, std::optional<double> published) {
    if (!opengl_) return;
    GlBench(bench_, *opengl_).with(kTable8Way, [&](const Context &context) {
      const std::string how = kTable8Way.name + "." + opengl_->api;
      if (time(file, how, path("out"), published, by_device(context)))
        compare_files(path("cpu"), path("out"), name(file, how));
    });
  }

  // Encrypts one file as the command does.
  void encrypt(const std::string &how, const std::string &to, const MakeEngine &make) {
    cli::Input input(path("in"));
    cli::Output output(to, input.status());
    cli::PipelinePlan plan;
    plan.cipher = run_.cipher;
    plan.pad = false;
    cli::suit_machine(plan, input.size());
    // Uses one core, as in the paper. Another core writes.
    if (how == "openssl") plan.readers = plan.writers = 1;
    output.create();
    const std::unique_ptr<cli::Engine> engine = make();
    cli::run_pipeline(plan, input, output, {}, *engine, progress_);
    output.commit(is_disk_);
  }

  // Measures one engine. Returns false if there is no time left for it.
  bool time(const PaperFile &file, const std::string &how, const std::string &to,
            std::optional<double> published, const MakeEngine &make) {
    is_late_ |= is_disk_ && seconds_since(begin_) > kDiskSeconds;
    if (is_late_) return false;
    const std::string row = name(file, how);
    bench_.log.tell(row);
    const unsigned runs = bench_.quick || is_disk_ ? 1 : 2;
    std::vector<double> seconds, cpu;
    for (unsigned n = 0; n < runs; n++) {
      if (is_disk_) forget_file(path("in"));
      const double before = cpu_seconds();
      seconds.push_back(seconds_of([&] { encrypt(how, to, make); }));
      cpu.push_back(100 * (cpu_seconds() - before) / seconds.back());
    }
    BenchResult result{row, "s", spread_of(seconds), file.bytes, {}, "wall", {}, published};
    bench_.log.add({fmt::format("R.file-{}.{}.cpu.{}", file.number, where_, how),
                    "% of a core",
                    spread_of(cpu),
                    file.bytes,
                    {},
                    "",
                    {}});
    bench_.log.add(std::move(result));
    return true;
  }

  void repeat(double seconds, const std::string &how, const MakeEngine &make) {
    const auto start = Clock::now();
    do encrypt(how, path("out"), make);
    while (seconds_since(start) < seconds);
  }

  void stay_on_card(uint32_t index, double seconds) {
    const bool is_gpu = bench_.context.device(index).is_gpu != 0;
    const uint64_t bytes = is_gpu ? uint64_t{256} << 20 : 1 << 14;
    const CardData card(only(index), 0, data_, bytes);
    const auto start = Clock::now();
    do card.by_wall(run_, bytes);
    while (seconds_since(start) < seconds);
  }

  // Records CPU use and power while `work` runs and adds them. Returns the median of the power in
  // watts, or 0.
  double watch(const PowerMeter &meter, const std::string &what,
               const std::function<void(double)> &work) {
    bench_.log.tell(what + ", over time");
    const double seconds = bench_.quick ? 0.2 : kTraceSeconds;
    LoadTrace trace(meter, kSampleSeconds);
    const auto start = Clock::now();
    work(seconds);
    if (const double rest = seconds - seconds_since(start); rest > 0)
      std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    trace.stop();
    add_series(what + ".cpu-over-time", "% of a core", trace.cpu());
    return add_series(what + ".power", "W", trace.watts());
  }

  double add_series(const std::string &name, const char *unit, const Series &series) {
    std::vector<double> values;
    for (const auto &[second, value] : series) values.push_back(value);
    BenchResult result{name, unit, spread_of(values), {}, {}, "", {}};
    result.series = series;
    if (!series.empty()) bench_.log.add(std::move(result));
    return values.empty() ? 0 : spread_of(values).median;
  }

  void add_power(double watts, double idle, const std::string &what) {
    if (watts == 0 || idle == 0) return;
    const double more = watts - idle;
    bench_.log.add({what + ".power-added", "W", {more, more, more, 1}, {}, {}, "", {}, 81});
  }

  PaperBench &bench_;
  PaperFolder &folder_;
  const bool is_disk_;
  const std::string where_;
  const BenchCase run_;
  const BenchData data_;
  const cli::SecretBytes key_;
  const Clock::time_point begin_;
  const std::optional<lc_device_info> opengl_ = find_gl(bench_.context);
  bool is_late_ = false;
  std::map<uint32_t, std::unique_ptr<Context>> contexts_;  // one per device
  cli::Progress progress_;
};

void measure_files(PaperBench &bench, PaperFolder &folder, bool is_disk, uint64_t divisor) {
  MeasureR measure(bench, folder, is_disk);
  const std::vector<PaperFile> files = paper_files(divisor);
  for (const unsigned number : kOrder)
    if (!measure.measure(files[number - 1])) {
      bench.log.note(
          fmt::format("R: of file {} and those after it not all was measured on the {}: no {}",
                      number, is_disk ? "disk" : "RAM disk", is_disk ? "time or room" : "room"));
      break;
    }
  if (is_disk) return;
  const PowerMeter meter;
  if (!meter.why_not().empty()) bench.log.note("R: no power: " + meter.why_not());
  measure.trace(files[6 - 1], meter);
}

}  // namespace

BenchCase paper_r_case() { return {*cli::find_cipher("aes-128-ecb"), LC_ENCRYPT}; }

void paper_r(PaperBench &bench) {
  // The emulator takes seconds per MiB.
  const uint64_t divisor = !bench.has_gpu() ? 1 << 14 : bench.quick ? 64 : 1;
  std::mutex mutex;  // protects ram and disk
  std::unique_ptr<PaperFolder> ram, disk;
  const cli::InterruptWatch watch([&] {
    const std::lock_guard lock(mutex);
    if (ram != nullptr) ram->remove();
    if (disk != nullptr) disk->remove();
  });
  {
    const std::lock_guard lock(mutex);
    disk = std::make_unique<PaperFolder>(bench.folder);
    struct stat there {};
    if (stat(kRamDisk, &there) == 0) ram = std::make_unique<PaperFolder>(kRamDisk);
  }
  if (ram != nullptr && ram->is_ram_disk())
    measure_files(bench, *ram, false, divisor);
  else
    bench.log.note(fmt::format("R: {} is no RAM disk: only the disk is measured", kRamDisk));
  if (ram != nullptr) ram->remove();
  for (const uint32_t index : bench.devices()) paper_r_grid(bench, index);
  if (disk->is_ram_disk())
    bench.log.note("R: " + bench.folder + " is a RAM disk: name a folder on a disk with --out");
  else
    measure_files(bench, *disk, true, divisor);
}

}  // namespace lanecrypt::bench
