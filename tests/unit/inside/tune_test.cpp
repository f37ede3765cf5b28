// The cost model, the measurements that it uses, and how they are stored. The emulator is the
// device.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "placement/cost_model.h"
#include "placement/measure.h"
#include "temporary_folder.h"
#include "unit/support/devices.h"
#include "unit/support/random_bytes.h"

namespace lanecrypt::test {
namespace {

using placement::Calibration;
using placement::CostModel;
using placement::Load;
using placement::Point;
using placement::Prefer;
using placement::Question;

constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr CipherKind kCtr = {LC_AES_CTR, LC_ENCRYPT, 16};
constexpr CipherKind kCbc = {LC_AES_CBC, LC_ENCRYPT, 16};

// A device needs 100 microseconds for a call, and then does 20 GB/s. Its CPU time is 20
// microseconds, and then that of 10 GB/s. A core does 5 GB/s.
Point point_of(const CipherKind &kind, uint64_t bytes, bool pinned = false, uint32_t streams = 1) {
  return {kind, pinned, streams, bytes, 100000 + bytes / 20, 20000 + bytes / 10, 100 + bytes / 5,
          0};
}

Calibration usual() {
  Calibration made = {"a machine", "a device", true, {}};
  for (const uint64_t bytes : {16 * kKiB, kMiB, 16 * kMiB})
    made.points.push_back(point_of(kCtr, bytes));
  return made;
}

Question ask(const CipherKind &kind, uint64_t bytes) { return {.kind = kind, .bytes = bytes}; }

bool is_for_device(const CostModel &model, const Question &question, const Load &load,
                   Prefer prefer) {
  return model.choose(question, load, prefer) == LC_CHOICE_DEVICE;
}

TEST(CostModel, PicksTheSideThatIsSooner) {
  const CostModel model(usual());
  // Both take the same time at 667 kB, or at 759 kB with the margin.
  EXPECT_FALSE(is_for_device(model, ask(kCtr, 16), {}, Prefer::kSpeed));
  EXPECT_FALSE(is_for_device(model, ask(kCtr, 16 * kKiB), {}, Prefer::kSpeed));
  EXPECT_FALSE(is_for_device(model, ask(kCtr, 700000), {}, Prefer::kSpeed));
  EXPECT_TRUE(is_for_device(model, ask(kCtr, 800000), {}, Prefer::kSpeed));
  EXPECT_TRUE(is_for_device(model, ask(kCtr, kMiB), {}, Prefer::kSpeed));
  EXPECT_TRUE(is_for_device(model, ask(kCtr, 4096 * kMiB), {}, Prefer::kSpeed));
  EXPECT_EQ(kMiB, model.threshold(kCtr, false, Prefer::kSpeed));
}

TEST(CostModel, EstimatesBetweenAndBeyondWhatWasMeasured) {
  const CostModel model(usual());
  for (const uint64_t bytes : {100 * kKiB, 5 * kMiB, 100 * kMiB}) {
    const auto made = model.estimate(ask(kCtr, bytes), {});
    ASSERT_TRUE(made.has_value());
    EXPECT_NEAR(static_cast<double>(made->device_ns), 100000.0 + bytes / 20.0, 2000.0);
    EXPECT_NEAR(static_cast<double>(made->device_cpu_ns), 20000.0 + bytes / 10.0, 4000.0);
    EXPECT_NEAR(static_cast<double>(made->cpu_ns), bytes / 5.0, 2000.0);
  }
}

TEST(CostModel, OffloadTakesLessCpuTimeButNoMoreThanTwiceAsLong) {
  const CostModel model(usual());
  // From 286 kB on the device takes at most twice the CPU's time, and less CPU time.
  EXPECT_FALSE(is_for_device(model, ask(kCtr, 250000), {}, Prefer::kOffload));
  EXPECT_TRUE(is_for_device(model, ask(kCtr, 400000), {}, Prefer::kOffload));
  EXPECT_FALSE(is_for_device(model, ask(kCtr, 400000), {}, Prefer::kSpeed));
  // A device that takes more CPU time than OpenSSL saves nothing.
  Calibration costly = usual();
  for (Point &point : costly.points) point.device_cpu_ns = 2 * point.cpu_ns;
  EXPECT_FALSE(is_for_device(CostModel(costly), ask(kCtr, 400000), {}, Prefer::kOffload));
  // It is chosen all the same if it is faster.
  EXPECT_TRUE(is_for_device(CostModel(costly), ask(kCtr, 4 * kMiB), {}, Prefer::kOffload));
}

TEST(CostModel, LooksAtTheQueues) {
  const CostModel model(usual());
  const Question large = ask(kCtr, 4 * kMiB);
  EXPECT_TRUE(is_for_device(model, large, {}, Prefer::kSpeed));
  EXPECT_FALSE(is_for_device(model, large, {.device_bytes = 64 * kMiB}, Prefer::kSpeed));
}

// As usual(), with several cores, which wake in 50 microseconds and do 15 GB/s.
Calibration with_cores() {
  Calibration made = usual();
  made.points[1] = point_of(kCtr, 2 * kMiB);
  for (Point &point : made.points)
    point.cores_ns = point.bytes < 2 * kMiB ? point.cpu_ns : 50000 + point.bytes / 15;
  return made;
}

TEST(CostModel, PicksSeveralCoresWhereTheyAreSooner) {
  const CostModel model(with_cores());
  const auto choose = [](const CostModel &by, uint64_t bytes, const Load &load = {}) {
    return by.choose(ask(kCtr, bytes), load, Prefer::kSpeed);
  };
  // The device is faster from 700 kB on, then the cores are, and from 13 MB on the device again.
  EXPECT_EQ(LC_CHOICE_CPU, choose(model, 700000));
  EXPECT_EQ(LC_CHOICE_DEVICE, choose(model, kMiB));
  EXPECT_EQ(LC_CHOICE_DEVICE, choose(model, 2 * kMiB - 1));
  EXPECT_EQ(LC_CHOICE_CORES, choose(model, 2 * kMiB));
  EXPECT_EQ(LC_CHOICE_CORES, choose(model, 4 * kMiB));
  EXPECT_EQ(LC_CHOICE_DEVICE, choose(model, 16 * kMiB));
  EXPECT_EQ(LC_CHOICE_DEVICE, choose(model, 256 * kMiB));
  // While the cores' threads have other work, they are not considered.
  EXPECT_EQ(LC_CHOICE_DEVICE, choose(model, 4 * kMiB, {.cores_are_busy = true}));
  EXPECT_EQ(LC_CHOICE_CPU,
            choose(model, 4 * kMiB, {.device_bytes = 64 * kMiB, .cores_are_busy = true}));
  EXPECT_EQ(LC_CHOICE_CORES, choose(model, 256 * kMiB, {.device_bytes = 256 * kMiB}));
  // The bus is slower than the cores.
  Calibration slow_bus = with_cores();
  for (Point &point : slow_bus.points) point.device_ns = 100000 + point.bytes / 9;
  EXPECT_EQ(LC_CHOICE_CORES, choose(CostModel(slow_bus), 256 * kMiB));
  EXPECT_EQ(2 * kMiB, CostModel(slow_bus).threshold(kCtr, false, Prefer::kSpeed));
  EXPECT_EQ(LC_CHOICE_DEVICE,
            CostModel(slow_bus).choose({.kind = kCtr, .pinned = true, .bytes = 256 * kMiB}, {},
                                       Prefer::kSpeed));
  // A request that gains less than the margin stays on the caller's core.
  Calibration no_gain = slow_bus;
  for (Point &point : no_gain.points) {
    point.cores_ns = point.cpu_ns - point.cpu_ns / 20;
    point.device_ns = 2 * point.cpu_ns;
  }
  EXPECT_EQ(LC_CHOICE_CPU, choose(CostModel(no_gain), 256 * kMiB));
}

// Several cores together take the CPU time of one.
TEST(CostModel, OffloadCountsTheTimeOfAllCores) {
  const auto choose = [](const Calibration &calibration) {
    return CostModel(calibration).choose(ask(kCtr, 256 * kMiB), {}, Prefer::kOffload);
  };
  // A device that takes half of that CPU time, though it is slower than several cores, and than
  // one.
  Calibration light = with_cores();
  for (Point &point : light.points) point.device_ns = 100000 + point.bytes / 9;
  EXPECT_EQ(LC_CHOICE_DEVICE, choose(light));
  for (Point &point : light.points) point.device_ns = point.bytes / 3;
  EXPECT_EQ(LC_CHOICE_DEVICE, choose(light));
  for (Point &point : light.points) point.device_ns = point.bytes / 2;
  EXPECT_EQ(LC_CHOICE_CORES, choose(light));
  // A device whose copies take twice that CPU time, and that is a little faster than the cores, or
  // more than twice as fast.
  Calibration heavy = with_cores();
  for (Point &point : heavy.points) point.device_cpu_ns = 2 * point.cpu_ns;
  EXPECT_EQ(LC_CHOICE_CORES, choose(heavy));
  for (Point &point : heavy.points) point.device_ns = point.bytes / 40;
  EXPECT_EQ(LC_CHOICE_DEVICE, choose(heavy));
}

TEST(CostModel, KnowsOnlyWhatIsLikeWhatWasMeasured) {
  const CostModel model(usual());
  const CipherKind longer = {LC_AES_CTR, LC_ENCRYPT, 32};
  EXPECT_TRUE(is_for_device(model, ask(longer, 4 * kMiB), {}, Prefer::kSpeed));
  for (const CipherKind kind :
       {CipherKind{LC_AES_ECB, LC_ENCRYPT, 16}, CipherKind{LC_AES_CBC, LC_DECRYPT, 16}}) {
    EXPECT_FALSE(model.estimate(ask(kind, 4 * kMiB), {}).has_value());
    EXPECT_FALSE(is_for_device(model, ask(kind, 4 * kMiB), {}, Prefer::kSpeed));
    EXPECT_EQ(std::nullopt, model.threshold(kind, false, Prefer::kSpeed));
  }
  // A shorter key may be much faster on the CPU.
  Calibration only_long = usual();
  for (Point &point : only_long.points) point.kind.key_bytes = 32;
  EXPECT_FALSE(CostModel(only_long).estimate(ask(kCtr, 4 * kMiB), {}).has_value());
  EXPECT_FALSE(CostModel(Calibration{}).estimate(ask(kCtr, kMiB), {}).has_value());
  // CBC decryption with ciphertext stealing takes nearly the same time as plain CBC decryption.
  Calibration with_cbc = usual();
  with_cbc.points.push_back(point_of({LC_AES_CBC, LC_DECRYPT, 16}, 8 * kMiB));
  EXPECT_TRUE(is_for_device(CostModel(with_cbc), ask({LC_AES_CBC_CS3, LC_DECRYPT, 16}, 8 * kMiB),
                            {}, Prefer::kSpeed));
  EXPECT_FALSE(CostModel(with_cbc)
                   .estimate(ask({LC_AES_CBC_CS3, LC_ENCRYPT, 16}, 8 * kMiB), {})
                   .has_value());
  // Measurements with pinned memory do not apply to pageable memory. Those with pageable memory do
  // apply to pinned memory.
  Calibration only_pinned = usual();
  for (Point &point : only_pinned.points) point.pinned = true;
  EXPECT_FALSE(CostModel(only_pinned).estimate(ask(kCtr, kMiB), {}).has_value());
  EXPECT_TRUE(model.estimate({.kind = kCtr, .pinned = true, .bytes = kMiB}, {}).has_value());
}

// One stream takes as long as its blocks in series. Many streams fill a device.
TEST(CostModel, ChainsCountTheirStreams) {
  Calibration made = {"a machine", "a device", false, {}};
  for (const uint64_t bytes : {16 * kKiB, kMiB}) {
    Point one = point_of(kCbc, bytes);
    one.device_ns = 50 * bytes;
    made.points.push_back(one);
    made.points.push_back(point_of(kCbc, bytes, false, 1024));
  }
  const CostModel model(made);
  EXPECT_FALSE(is_for_device(model, {.kind = kCbc, .bytes = 16 * kMiB}, {}, Prefer::kSpeed));
  EXPECT_FALSE(
      is_for_device(model, {.kind = kCbc, .streams = 4, .bytes = 16 * kMiB}, {}, Prefer::kSpeed));
  EXPECT_TRUE(is_for_device(model, {.kind = kCbc, .streams = 4096, .bytes = 16 * kMiB}, {},
                            Prefer::kSpeed));
}

TEST(CostModel, OddMeasurementsDoNoHarm) {
  Calibration odd = usual();
  odd.points[1].device_ns = 1;  // less than for fewer bytes
  odd.points.push_back(odd.points[2]);
  odd.points.push_back(point_of(kCtr, 16 * kKiB));
  const CostModel model(odd);
  for (uint64_t bytes = 1; bytes < uint64_t{1} << 40; bytes *= 3)
    for (const uint32_t streams : {1u, 7u}) {
      const auto made = model.estimate({.kind = kCtr, .streams = streams, .bytes = bytes}, {});
      ASSERT_TRUE(made.has_value());
      EXPECT_LT(made->device_ns, uint64_t{1} << 50);
    }
  EXPECT_FALSE(model.estimate({.kind = kCtr, .streams = 0, .bytes = 1}, {}).has_value());
}

TEST(Calibration, IsTheSameAfterItsText) {
  Calibration all = {
      placement::describe_machine(), "cuda:0, a card\nof two lines, 580.1", false, {}};
  for (const CipherInfo &info : kCipherInfos)
    for (const uint32_t one : {16u, 24u, 32u})
      if (info.takes_key(one * info.keys))
        all.points.push_back(
            point_of({info.cipher, LC_DECRYPT, one * info.keys}, kMiB, one == 16, one));
  all.points.back().cores_ns = 12345;
  const auto read = placement::from_text(placement::to_text(all));
  ASSERT_TRUE(read.has_value());
  all.device = "cuda:0, a card of two lines, 580.1";
  EXPECT_EQ(all, *read);
}

// A calibration may lack a cipher: the libcrypto of the program that measured may not have had it.
TEST(CostModel, LeavesToTheCpuWhatWasNotMeasured) {
  const CostModel model(usual());
  for (const CipherInfo &info : kCipherInfos) {
    if (info.cipher == LC_AES_CTR) continue;
    const CipherKind kind = {info.cipher, LC_ENCRYPT,
                             (info.key_sizes & kKey128 ? 16u : 32u) * info.keys};
    EXPECT_FALSE(model.estimate(ask(kind, 64 * kMiB), {}).has_value()) << kind.name();
    for (const Prefer prefer : {Prefer::kSpeed, Prefer::kOffload})
      EXPECT_EQ(LC_CHOICE_CPU, model.choose(ask(kind, 64 * kMiB), {}, prefer)) << kind.name();
    EXPECT_FALSE(model.threshold(kind, false, Prefer::kSpeed).has_value()) << kind.name();
  }
  EXPECT_TRUE(is_for_device(model, ask(kCtr, 64 * kMiB), {}, Prefer::kSpeed));
}

// A truncated or malformed text is refused.
TEST(Calibration, RefusesWhatIsNoText) {
  const std::string text = placement::to_text(usual());
  ASSERT_TRUE(placement::from_text(text).has_value());
  for (const auto &[what, by] : {std::pair{"calibration 4", "calibration 3"},
                                 {"0.1.0", "0.0.9"},
                                 {" modes", "0 modes"},
                                 {"ctr", "ctr2"},
                                 {"encrypt", "turn"},
                                 {"ordinary", "odd"},
                                 {" 16 ", " 17 "},
                                 {"16384", "-16384"},
                                 {"1048576", "1048576 1"},
                                 {"1048576", "99999999999999999999999"},
                                 {"1048576", "0"},
                                 {"quick", "deep"},
                                 {"machine", "engine"},
                                 {"16777216", "99999999999999999"}}) {
    std::string wrong = text;
    const size_t at = wrong.find(what);
    ASSERT_NE(std::string::npos, at) << what;
    wrong.replace(at, strlen(what), by);
    EXPECT_FALSE(placement::from_text(wrong).has_value()) << what << " as " << by;
  }
  Random random(5);
  for (int n = 0; n < 2000; ++n) {
    std::string wrong = text;
    for (uint64_t count = 1 + random.below(4); count > 0; --count)
      wrong[random.below(wrong.size())] = static_cast<char>(random.below(256));
    if (random.below(4) == 0) wrong.resize(random.below(wrong.size()));
    (void)placement::from_text(wrong);
  }
}

class TuneCache : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const ScopedEnvironment cache_{"XDG_CACHE_HOME", folder_.path().c_str()};
};

TEST_F(TuneCache, KeepsByMachineAndDevice) {
  EXPECT_FALSE(placement::load("a machine", "a device").has_value());
  placement::store(usual());
  EXPECT_EQ(usual(), placement::load("a machine", "a device"));
  EXPECT_FALSE(placement::load("a machine", "another device").has_value());
  EXPECT_FALSE(placement::load("another machine", "a device").has_value());
}

TEST_F(TuneCache, MeasuresTheEmulator) {
  runtime::DispatcherOptions options;
  options.devices = "host";
  options.pipeline.skip_self_test = true;
  runtime::Dispatcher dispatcher(options);
  uint64_t heard = 0;
  Result<Calibration> made =
      placement::measure(dispatcher, 0, placement::Depth::kQuick, [&](const Point &point) {
        ++heard;
        EXPECT_GT(point.device_ns, 0u);
        EXPECT_GT(point.cpu_ns, 0u);
        return true;
      });
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ(heard, made->points.size());
  EXPECT_GT(heard, 8u);
  const CostModel model(*made);
  // The emulator is plain C++, and OpenSSL is faster. The model must show that.
  for (const lc_cipher cipher : {LC_AES_CTR, LC_AES_ECB, LC_AES_GCM}) {
    const Question question = ask({cipher, LC_ENCRYPT, 16}, 8 * kMiB);
    ASSERT_TRUE(model.estimate(question, {}).has_value());
    EXPECT_FALSE(is_for_device(model, question, {}, Prefer::kSpeed));
    EXPECT_FALSE(is_for_device(model, question, {}, Prefer::kOffload));
  }
  for (const Point &point : made->points) {
    const bool are_shared = point.kind.cipher == LC_AES_CTR && dispatcher.cores() > 1;
    if (point.kind.cipher == LC_AES_CTR || point.kind.info().is_aead) {
      EXPECT_EQ(are_shared, point.cores_ns != 0) << point.kind.name();
    }
  }
  // The device may be too slow to be measured with the sizes for which several cores are used.
  const bool cores_ran =
      std::any_of(made->points.begin(), made->points.end(), [](const Point &point) {
        return point.cores_ns != 0 && point.bytes >= runtime::kLeastForCores;
      });
  EXPECT_EQ(cores_ran, dispatcher.cpu_counters().bytes != 0);

  int calls = 0;
  const Result<Calibration> stopped = placement::measure(
      dispatcher, 0, placement::Depth::kQuick, [&](const Point &) { return ++calls < 2; });
  EXPECT_EQ(LC_ERROR_STOPPED, stopped.status().code());
  EXPECT_EQ(LC_ERROR_ARGUMENT,
            placement::measure(dispatcher, 99, placement::Depth::kQuick, nullptr).status().code());
}

// The program's own work during a measurement is not attributed to the device.
TEST(OwnCpuTime, LeavesOutThreadsThatWereThere) {
  std::atomic<bool> is_over{false};
  std::thread busy([&] {
    while (!is_over) {
    }
  });
  const auto own = placement::OwnCpuTime::without_present_threads();
  const placement::OwnCpuTime all;
  const uint64_t own_begin = own.now_ns(), all_begin = all.now_ns();
  while (all.now_ns() - all_begin < 100'000'000)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_LT(own.now_ns() - own_begin, 50'000'000u);
  // The calling thread counts, though it existed before.
  const uint64_t mine = own.now_ns();
  const auto mine_alone = [] {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
  };
  for (const uint64_t begin = mine_alone(); mine_alone() - begin < 20'000'000;) {
  }
  EXPECT_GE(own.now_ns() - mine, 19'000'000u);
  is_over = true;
  busy.join();
}

// The emulator, with the measurements of a very fast GPU.
class Choosing : public TuneCache {
 protected:
  void SetUp() override {
    calibration_ = usual();
    calibration_.machine = placement::describe_machine();
    calibration_.device = placement::describe_device(device::find_host()[0].properties);
  }
  static lc_cipher_question question(uint64_t bytes) {
    lc_cipher_question made = {};
    made.struct_size = sizeof made;
    made.cipher = LC_AES_CTR;
    made.direction = LC_DECRYPT;  // AES-CTR is its own inverse
    made.key_bytes = 16;
    made.streams = 1;
    made.bytes = bytes;
    return made;
  }
  static lc_choice choose(lc_context *context, uint64_t bytes) {
    const lc_cipher_question asked = question(bytes);
    return lc_cipher_choose(context, &asked);
  }

  // Waits until other programs have done their work and the choice is `choice`. Returns whether
  // that happened.
  static bool becomes(lc_context *context, lc_choice choice, uint64_t bytes = 4 * kMiB) {
    for (int n = 0; n < 30000; ++n) {
      if (choose(context, bytes) == choice) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  static size_t count_threads() {
    const std::filesystem::directory_iterator all("/proc/self/task");
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }

  Calibration calibration_;
};

TEST_F(Choosing, GoesByWhatIsStored) {
  {
    const Context context("host", LC_FALLBACK_CPU);
    EXPECT_EQ(LC_CHOICE_CPU, choose(context.get(), 1000));
    // For so little data the library does not even look for devices.
    EXPECT_EQ(LC_CHOICE_CPU, choose(context.get(), 4 * kMiB));
    EXPECT_EQ(LC_ERROR_UNSUPPORTED, lc_tune(context.get(), 0, LC_TUNE_STORED, nullptr, nullptr));
    EXPECT_EQ(LC_CHOICE_UNKNOWN, choose(context.get(), 4 * kMiB));
  }
  calibration_.points[1].cores_ns = 12345;
  placement::store(calibration_);
  for (const bool offloads : {false, true}) {
    lc_options options = {};
    options.struct_size = sizeof options;
    options.devices = "host";
    options.prefer = offloads ? LC_PREFER_OFFLOAD : LC_PREFER_SPEED;
    lc_context *context = nullptr;
    ASSERT_EQ(LC_OK, lc_open(&options, &context));
    EXPECT_EQ(LC_CHOICE_CPU, choose(context, 4 * kMiB));
    EXPECT_EQ(0, lc_is_open(context, 0));
    ASSERT_EQ(LC_OK, lc_device_test(context, 0));
    EXPECT_EQ(1, lc_is_open(context, 0));
    EXPECT_EQ(LC_CHOICE_DEVICE, choose(context, 4 * kMiB));
    // The second time it uses the smallest size that it found the first time.
    for (int n = 0; n < 3; ++n) {
      EXPECT_EQ(offloads ? LC_CHOICE_DEVICE : LC_CHOICE_CPU, choose(context, 400000));
      EXPECT_EQ(LC_CHOICE_CPU, choose(context, 100000));
      EXPECT_EQ(LC_CHOICE_CPU, choose(context, 1000));
      EXPECT_EQ(LC_CHOICE_DEVICE, choose(context, 4 * kMiB));
    }
    lc_cipher_question other = question(4 * kMiB);
    for (const lc_cipher unmeasured : {LC_AES_ECB, LC_SM4_CTR, LC_ARIA_CTR}) {
      other.cipher = unmeasured;
      EXPECT_EQ(LC_CHOICE_UNKNOWN, lc_cipher_choose(context, &other));
    }
    std::vector<lc_tune_point> points;
    const auto take = [](void *to, const lc_tune_point *point) {
      static_cast<std::vector<lc_tune_point> *>(to)->push_back(*point);
      return 0;
    };
    EXPECT_EQ(LC_OK, lc_tune(context, 0, LC_TUNE_STORED, take, &points));
    ASSERT_EQ(calibration_.points.size(), points.size());
    EXPECT_EQ(calibration_.points[1].device_cpu_ns, points[1].device_cpu_ns);
    EXPECT_EQ(12345u, points[1].cores_ns);
    EXPECT_EQ(kMiB, points[1].bytes);
    lc_close(context);
  }
}

// The emulator, with the measurements of a GPU whose bus is slower than several cores.
TEST_F(Choosing, TellsOfSeveralCores) {
  for (Point &point : calibration_.points) {
    point.device_ns = 100000 + point.bytes / 10;
    point.cores_ns = point.bytes < 2 * kMiB ? point.cpu_ns : 50000 + point.bytes / 15;
  }
  placement::store(calibration_);
  const Context context("host", LC_FALLBACK_CPU);
  EXPECT_EQ(LC_CHOICE_CPU, choose(context.get(), 8 * kMiB));
  LANECRYPT_ASSERT_OK(lc_device_test(context.get(), 0));
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(LC_CHOICE_CPU, choose(context.get(), kMiB));
    EXPECT_EQ(LC_CHOICE_CORES, choose(context.get(), 8 * kMiB));
  }
}

// After the CPU has done a few GiB of requests, the library looks for devices and opens one, while
// the CPU continues.
TEST_F(Choosing, OpensADeviceMeanwhileOnceThatPays) {
  placement::store(calibration_);
  const Context context("host", LC_FALLBACK_CPU);
  const size_t threads = count_threads();
  for (int n = 1; n < 256; ++n) ASSERT_EQ(LC_CHOICE_CPU, choose(context.get(), 4 * kMiB));
  // Small requests do not count.
  for (int n = 0; n < 100000; ++n) ASSERT_EQ(LC_CHOICE_CPU, choose(context.get(), 60000));
  EXPECT_EQ(threads, count_threads());
  EXPECT_TRUE(becomes(context.get(), LC_CHOICE_DEVICE));
}

TEST_F(Choosing, MeasuresADeviceMeanwhileOnceThatPays) {
  const Context context("host", LC_FALLBACK_CPU);
  const size_t threads = count_threads();
  for (int n = 1; n < 256; ++n) ASSERT_EQ(LC_CHOICE_CPU, choose(context.get(), 4 * kMiB));
  // The emulator is slower than OpenSSL, and several cores are not used for so little data.
  EXPECT_TRUE(becomes(context.get(), LC_CHOICE_UNKNOWN, kMiB));
  EXPECT_TRUE(becomes(context.get(), LC_CHOICE_CPU, kMiB));
  // Another process did all of that, so this one has no new threads.
  EXPECT_EQ(threads, count_threads());
  // A new context, which stands for another process, need not measure again.
  const Context next("host", LC_FALLBACK_CPU);
  EXPECT_EQ(LC_OK, lc_tune(next.get(), 0, LC_TUNE_STORED, nullptr, nullptr));
  EXPECT_EQ(LC_CHOICE_CPU, choose(next.get(), kMiB));
}

// A device that cannot be measured is not used.
TEST_F(Choosing, ADeviceThatFailsIsNotAskedAgain) {
  const ScopedEnvironment fault("LANECRYPT_HOST_FAULT", "lost-after:3");
  const Context context("host", LC_FALLBACK_CPU);
  for (int n = 1; n < 256; ++n) ASSERT_EQ(LC_CHOICE_CPU, choose(context.get(), 4 * kMiB));
  EXPECT_TRUE(becomes(context.get(), LC_CHOICE_UNKNOWN));
  lc_device_info info = {};
  info.struct_size = sizeof info;
  for (int n = 0; n < 200; ++n) {
    EXPECT_EQ(LC_CHOICE_UNKNOWN, choose(context.get(), 4 * kMiB));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  // It failed in the process that measured it, and was never opened in this one.
  ASSERT_EQ(LC_OK, lc_device_get(context.get(), 0, &info));
  EXPECT_EQ(LC_DEVICE_UNTRIED, info.state);
  EXPECT_EQ(LC_CHOICE_UNKNOWN, choose(context.get(), 4 * kMiB));
}

TEST_F(Choosing, MayBeClosedWhileItMeasures) {
  for (int pause_ms : {0, 1, 30, 200}) {
    const Context context("host", LC_FALLBACK_CPU);
    for (int n = 0; n < 257; ++n) (void)choose(context.get(), 4 * kMiB);
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
  }
}

TEST_F(Choosing, AChildOfForkLooksForItself) {
  placement::store(calibration_);
  const Context context("host", LC_FALLBACK_CPU);
  for (int n = 0; n < 256; ++n) (void)choose(context.get(), 4 * kMiB);
  EXPECT_TRUE(becomes(context.get(), LC_CHOICE_DEVICE));
  const pid_t child = fork();
  if (child == 0) {
    // In the child the CPU has not done a GiB yet.
    bool right = choose(context.get(), 4 * kMiB) == LC_CHOICE_CPU;
    for (int n = 0; n < 256; ++n) (void)choose(context.get(), 4 * kMiB);
    right = right && becomes(context.get(), LC_CHOICE_DEVICE);
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
}

// A request that gains more than opening costs opens the device.
TEST_F(Choosing, AHugeRequestNeedNotWait) {
  placement::store(calibration_);
  const Context context("host", LC_FALLBACK_CPU);
  EXPECT_EQ(LC_CHOICE_DEVICE, choose(context.get(), uint64_t{16} << 30));
}

// The choice names the device that was measured to be faster, or all devices for a large request,
// which they share.
TEST_F(Choosing, SaysWhereTheRequestThenRuns) {
  const ScopedEnvironment two("LANECRYPT_HOST_DEVICES", "2");
  placement::store(calibration_);
  calibration_.device = placement::describe_device(device::find_host()[1].properties);
  for (Point &point : calibration_.points) point.device_ns /= 2;
  placement::store(calibration_);
  const Context context("host", LC_FALLBACK_CPU);
  for (const uint32_t n : {0u, 1u}) ASSERT_EQ(LC_OK, lc_device_test(context.get(), n));
  const auto place = [&](uint64_t bytes, uint32_t *device) {
    const lc_cipher_question asked = question(bytes);
    return lc_cipher_place(context.get(), &asked, device);
  };
  uint32_t device = 99;
  EXPECT_EQ(LC_CHOICE_CPU, place(100000, &device));
  EXPECT_EQ(LC_CPU, device);
  EXPECT_EQ(LC_CHOICE_DEVICE, place(64 * kMiB, &device));
  EXPECT_EQ(LC_ANY_DEVICE, device);
  ASSERT_EQ(LC_CHOICE_DEVICE, place(4 * kMiB, &device));
  EXPECT_EQ(1u, device);

  Bytes data(4 * kMiB), key(16), iv(16);
  lc_message message = {};
  message.key = key.data();
  message.iv = iv.data();
  message.in = message.out = data.data();
  message.length = data.size();
  lc_cipher_job job = {};
  job.struct_size = sizeof job;
  job.cipher = LC_AES_CTR;
  job.key_bytes = 16;
  job.device = device;
  job.has_device = 1;
  job.messages = &message;
  job.message_count = 1;
  job.message_size = sizeof message;
  LANECRYPT_ASSERT_OK(lc_run(context.get(), &job, nullptr));
  lc_counters counters = {};
  counters.struct_size = sizeof counters;
  LANECRYPT_ASSERT_OK(lc_counters_get(context.get(), 1, &counters));
  EXPECT_EQ(data.size(), counters.bytes);
}

TEST_F(Choosing, WrongQuestionsBelongToTheCpu) {
  placement::store(calibration_);
  const Context context("host", LC_FALLBACK_CPU);
  ASSERT_EQ(LC_OK, lc_device_test(context.get(), 0));
  EXPECT_EQ(0, lc_is_open(nullptr, 1));
  EXPECT_EQ(LC_CHOICE_CPU, lc_cipher_choose(context.get(), nullptr));
  EXPECT_EQ(LC_CHOICE_CPU, choose(nullptr, 4 * kMiB));
  lc_cipher_question wrong = question(4 * kMiB);
  wrong.struct_size = 8;
  EXPECT_EQ(LC_CHOICE_CPU, lc_cipher_choose(context.get(), &wrong));
  wrong = question(4 * kMiB);
  wrong.key_bytes = 17;
  EXPECT_EQ(LC_CHOICE_CPU, lc_cipher_choose(context.get(), &wrong));
  wrong = question(4 * kMiB);
  const int number = 99;
  memcpy(&wrong.cipher, &number, sizeof number);
  EXPECT_EQ(LC_CHOICE_CPU, lc_cipher_choose(context.get(), &wrong));
}

TEST_F(Choosing, MeasuresAndKeeps) {
  const Context context("host", LC_FALLBACK_CPU);
  const auto stop = [](void *, const lc_tune_point *) { return 1; };
  EXPECT_EQ(LC_CHOICE_CPU, choose(context.get(), 4 * kMiB));
  EXPECT_EQ(LC_ERROR_STOPPED, lc_tune(context.get(), 0, LC_TUNE_QUICK, stop, nullptr));
  EXPECT_EQ(LC_CHOICE_UNKNOWN, choose(context.get(), 4 * kMiB));
  EXPECT_EQ(LC_OK, lc_tune(context.get(), 0, LC_TUNE_QUICK, nullptr, nullptr));
  // The emulator is slower than OpenSSL.
  EXPECT_EQ(LC_CHOICE_CPU, choose(context.get(), kMiB));
  EXPECT_EQ(LC_OK, lc_tune(context.get(), 0, LC_TUNE_STORED, nullptr, nullptr));
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_tune(context.get(), 99, LC_TUNE_QUICK, nullptr, nullptr));
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_tune(nullptr, 0, LC_TUNE_QUICK, nullptr, nullptr));
}

// If the device was lost, the times of the CPU's work are not stored as its calibration.
TEST_F(TuneCache, ALostDeviceHasNoCalibration) {
  const ScopedEnvironment fault("LANECRYPT_HOST_FAULT", "lost-after:3");
  runtime::DispatcherOptions options;
  options.devices = "host";
  options.pipeline.skip_self_test = true;
  runtime::Dispatcher dispatcher(options);
  Result<Calibration> made = placement::measure(dispatcher, 0, placement::Depth::kQuick, nullptr);
  EXPECT_EQ(LC_ERROR_DEVICE, made.status().code());
}

}  // namespace
}  // namespace lanecrypt::test
