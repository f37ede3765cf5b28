// One job on several emulators. Each does what it can, and a device that is slow, lost or wrong
// does not delay the others.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "placement/dispatcher.h"
#include "test_scale.h"
#include "unit/support/batch.h"
#include "unit/support/devices.h"
#include "unit/support/faulty_device.h"
#include "unit/support/reference.h"
#include "unit/support/sealed_message.h"
#include "unit/support/submit_job.h"

namespace lanecrypt::test {
namespace {

using device::Found;
using runtime::Dispatcher;
using runtime::DispatcherOptions;
using runtime::Request;
using runtime::RequestPointer;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kMiB = 1 << 20;

// Called with the device and the step that it is about to begin.
using OnStepOf = std::function<void(size_t device, Step)>;

// Returns emulators, one for each entry of `faults`.
std::vector<Found> emulators(const std::vector<std::string> &faults,
                             const OnStepOf &on_step = nullptr) {
  std::vector<Found> all;
  for (const std::string &fault : faults) {
    OnStep its;
    if (on_step) its = [on_step, device = all.size()](Step step) { on_step(device, step); };
    Found found = with_faults(find_device("host:0"), fault, its);
    found.properties.id = "host:" + std::to_string(all.size());
    all.push_back(std::move(found));
  }
  return all;
}

// Waits until `is_so` returns true. Returns false after a time that only a hang takes.
bool await(const std::function<bool()> &is_so) {
  const Clock::time_point end = Clock::now() + std::chrono::minutes(5);
  while (!is_so() && Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  return is_so();
}

// Makes two devices begin together. On a busy machine one could otherwise do all the work before
// the other one runs.
class Meeting {
 public:
  void come(size_t device) {
    is_here_[device] = true;
    EXPECT_TRUE(await([&] { return is_here_[0] && is_here_[1]; })) << "there is no other";
  }
  void begin_anew() { is_here_[0] = is_here_[1] = false; }

 private:
  std::atomic<bool> is_here_[2] = {};
};

BatchShape messages(lc_cipher cipher, lc_direction direction, size_t count, uint64_t length,
                    bool in_place) {
  BatchShape shape;
  shape.cipher = cipher;
  shape.direction = direction;
  shape.key_bytes = key_sizes(cipher).back();
  if (cipher_info(cipher).has_data_units()) shape.data_unit_bytes = 4096;
  MessageShape message;
  message.length = length;
  message.in_place = in_place;
  shape.messages.resize(count, message);
  return shape;
}

class SharedWork : public testing::Test {
 protected:
  void open(const std::vector<Found> &devices, uint64_t least_shared_bytes = 1,
            lc_fallback fallback = LC_FALLBACK_NONE) {
    dispatcher_.reset();
    DispatcherOptions options;
    options.devices = "host";
    options.fallback = fallback;
    options.pipeline = pipeline_;
    options.least_shared_bytes = least_shared_bytes;
    options.find = [devices] { return device::DeviceEnumeration{devices, {}}; };
    dispatcher_ = std::make_unique<Dispatcher>(options);
  }
  void make_ready() {
    for (uint32_t n = 0; n < dispatcher_->device_count(); ++n)
      ASSERT_TRUE(dispatcher_->device(n)->make_ready().ok());
  }
  void open_all(const std::vector<std::string> &faults, lc_fallback fallback = LC_FALLBACK_NONE,
                const OnStepOf &on_step = nullptr) {
    open(emulators(faults, on_step), 1, fallback);
    make_ready();
  }
  // Opens two devices that begin together. The second is slow.
  void open_two() {
    meeting_.begin_anew();
    open_all({"", "pace:30000"}, LC_FALLBACK_NONE,
             [this](size_t device, Step) { meeting_.come(device); });
  }
  // Opens two devices. The second begins nothing before the first is lost.
  void open_second_to(const std::string &fault) {
    open_all({fault, ""}, LC_FALLBACK_NONE, [this](size_t device, Step) {
      EXPECT_TRUE(device == 0 || await([&] { return state(0) == LC_DEVICE_LOST; }));
    });
  }
  // Returns "" if the result is right, and every byte was counted once.
  std::string run(const BatchShape &shape) {
    Batch batch(nullptr, shape, random_);
    const uint64_t before = counted();
    const RequestPointer request = submit(*dispatcher_, batch.job());
    const Status status = request->wait();
    if (!status.ok()) return "failed: " + status.text();
    EXPECT_EQ(batch.bytes(), request->result.device_bytes + request->result.cpu_bytes);
    counted_ = counted() - before;
    return batch.check();
  }
  // Returns the seconds for a job of `length` bytes if no kernel runs.
  double pass(uint64_t length) {
    Bytes text(length);
    const uint8_t key[16] = {};
    const lc_message message = plain_message(key, key, text.data(), text.data(), length);
    lc_cipher_job job = {};
    job.struct_size = sizeof job;
    job.cipher = LC_AES_CTR;
    job.key_bytes = 16;
    job.device = LC_ANY_DEVICE;
    job.messages = &message;
    job.message_count = 1;
    job.message_size = sizeof message;
    const Clock::time_point begin = Clock::now();
    EXPECT_TRUE(submit(*dispatcher_, job)->wait().ok());
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
  uint64_t bytes(uint32_t device) { return dispatcher_->device(device)->counters().bytes; }
  lc_device_state state(uint32_t device) { return dispatcher_->device(device)->state(); }
  uint64_t counted() {
    uint64_t all = dispatcher_->cpu_counters().bytes;
    for (uint32_t n = 0; n < dispatcher_->device_count(); ++n) all += bytes(n);
    return all;
  }

  ScopedEnvironment form_{"LANECRYPT_AES_FORM", "table1"};
  runtime::PipelineOptions pipeline_ = [] {
    runtime::PipelineOptions options;
    options.skip_self_test = true;
    options.least_chunk_bytes = 64 << 10;
    options.most_chunk_bytes = kMiB;
    return options;
  }();
  Meeting meeting_;
  std::unique_ptr<Dispatcher> dispatcher_;
  uint64_t counted_ = 0;
  Random random_{77};
};

// Two devices take 2 ms for a chunk of 64 KiB, and one takes four times as long. Their shares are 4
// to 4 to 1.
TEST_F(SharedWork, EachDoesWhatItCan) {
  pipeline_.verify = LC_VERIFY_OFF;
  open_all(
      {"drop-kernel:0+,pace:32000", "drop-kernel:0+,pace:32000", "drop-kernel:0+,pace:128000"});
  constexpr uint64_t kAll = 36 * kMiB;
  const double took = pass(kAll);
  EXPECT_EQ(kAll, counted());
  const double slow = static_cast<double>(bytes(2)) / kAll;
  EXPECT_GT(slow, 0.03);
  EXPECT_LT(slow, 0.25);
  for (const uint32_t n : {0u, 1u}) EXPECT_GT(bytes(n), kAll / 4) << n;
  // Without waiting it would take 0.52 s, and on the slow device alone 4.7 s. Other programs may
  // run on this machine, hence the margin.
  EXPECT_LT(took, 3.0) << bytes(0) << " " << bytes(1) << " " << bytes(2);
}

// A device that is a hundred times slower does not delay the end. It gets little more than its
// first two chunks.
TEST_F(SharedWork, TheSlowestHoldsNobodyUp) {
  pipeline_.verify = LC_VERIFY_OFF;
  open_all({"drop-kernel:0+,pace:32000", "drop-kernel:0+,pace:3200000"});
  (void)pass(24 * kMiB);
  EXPECT_LE(bytes(1), 2 * kMiB);
  EXPECT_GE(bytes(1), pipeline_.least_chunk_bytes);
}

// A device that is not open yet does not delay the end either.
TEST_F(SharedWork, NobodyWaitsForOneToOpen) {
  // Once both are open they begin together.
  std::atomic<bool> both_open{false};
  std::vector<Found> devices = emulators({"", ""}, [&](size_t device, Step) {
    if (both_open) meeting_.come(device);
  });
  const auto opens = devices[1].open;
  std::promise<void> may_open;
  const std::shared_future<void> opening = may_open.get_future().share();
  devices[1].open = [=](device::KernelSet set) {
    opening.wait();
    return opens(set);
  };
  open(devices);
  EXPECT_EQ("", run(messages(LC_AES_CTR, LC_ENCRYPT, 1, 2 * kMiB, true)));
  EXPECT_EQ(2 * kMiB, bytes(0));
  EXPECT_EQ(LC_DEVICE_UNTRIED, state(1));
  may_open.set_value();
  ASSERT_TRUE(dispatcher_->device(1)->make_ready().ok());
  both_open = true;
  EXPECT_EQ("", run(messages(LC_AES_CTR, LC_ENCRYPT, 1, 4 * kMiB, true)));
  EXPECT_GT(bytes(1), 0u);
}

TEST_F(SharedWork, SmallJobsStayWhole) {
  open(emulators({"", ""}), kMiB);
  make_ready();
  EXPECT_EQ("", run(messages(LC_AES_CTR, LC_ENCRYPT, 7, 100 << 10, false)));
  EXPECT_TRUE((bytes(0) == 0) != (bytes(1) == 0));
  // A job that names one of them is not divided either.
  Batch batch(nullptr, messages(LC_AES_CTR, LC_ENCRYPT, 1, 2 * kMiB, false), random_);
  lc_cipher_job job = batch.job();
  job.device = 1;
  job.has_device = 1;
  const uint64_t before = bytes(0);
  EXPECT_TRUE(submit(*dispatcher_, job)->wait().ok());
  EXPECT_EQ("", batch.check());
  EXPECT_EQ(before, bytes(0));
}

// When it is open, one of the devices turns out to lack the kernels for the job.
TEST_F(SharedWork, OneDoesNoSuchThing) {
  const ScopedEnvironment count("LANECRYPT_HOST_DEVICES", "2");
  const ScopedEnvironment kernels("LANECRYPT_HOST_KERNELS", "aes_table1_ctr,aes_expand");
  open(device::find_host());
  Batch batch(nullptr, messages(LC_AES_CBC, LC_DECRYPT, 2, kMiB, true), random_);
  const RequestPointer request = submit(*dispatcher_, batch.job());
  ASSERT_TRUE(request->wait().ok()) << request->failure.text();
  EXPECT_EQ("", batch.check());
  EXPECT_EQ(2 * kMiB, bytes(1));
  EXPECT_EQ(0u, request->result.failed_devices);
  EXPECT_EQ(0u, dispatcher_->device(0)->counters().failures);
  EXPECT_EQ(LC_DEVICE_READY, state(0)) << dispatcher_->device(0)->reason();
}

// A mode, and the number and length of messages that keep two devices busy.
struct Work {
  lc_cipher cipher;
  lc_direction direction;
  size_t messages;
  uint64_t length;
};

std::vector<Work> kinds_of_work() {
  std::vector<Work> all = {
      {LC_AES_CTR, LC_ENCRYPT, 1, kMiB + 5},
      {LC_AES_ECB, LC_ENCRYPT, 3, 400 << 10},
      {LC_AES_CBC, LC_DECRYPT, 1, kMiB},
      {LC_AES_CFB128, LC_DECRYPT, 2, kMiB / 2 + 5},
      {LC_AES_CBC_CS3, LC_DECRYPT, 1, kMiB + 5},
      {LC_AES_XTS, LC_ENCRYPT, 2, 2 * kMiB},
      {LC_AES_CTR, LC_ENCRYPT, 2000, 700},
      // Chains: of short streams, and of long ones, in slices.
      {LC_AES_CBC, LC_ENCRYPT, 1500, 2048},
      {LC_AES_OFB, LC_ENCRYPT, 1100, 4096 + 35},
  };
  return all;
}

TEST_F(SharedWork, EveryModeComesOutRight) {
  for (const Work &work : kinds_of_work())
    for (const bool in_place : {true, false}) {
      const BatchShape shape =
          messages(work.cipher, work.direction, work.messages, work.length, in_place);
      SCOPED_TRACE(shape.name());
      open_two();
      EXPECT_EQ("", run(shape));
      EXPECT_EQ(work.messages * work.length, counted_);
      for (const uint32_t n : {0u, 1u}) {
        EXPECT_GT(bytes(n), 0u) << n;
        EXPECT_EQ(1u, dispatcher_->device(n)->counters().jobs);
        EXPECT_EQ(LC_DEVICE_READY, state(n)) << dispatcher_->device(n)->reason();
      }
    }
}

TEST_F(SharedWork, TagsOfMessagesThatSeveralMade) {
  for (const lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305})
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
      for (const bool in_place : {true, false}) {
        open_two();
        const Sealed sealed(cipher, direction, kMiB + 7, in_place, random_);
        const Status status = submit(*dispatcher_, sealed.job())->wait();
        EXPECT_TRUE(status.ok()) << status.text();
        EXPECT_EQ("", sealed.check());
        for (const uint32_t n : {0u, 1u}) EXPECT_GT(bytes(n), 0u) << n;
      }
}

// Whatever happens to one device, the other does the rest.
TEST_F(SharedWork, OneFailsAmid) {
  static const char *const kKinds[] = {"lost-after", "lost-upload", "lost-download", "fail-launch",
                                       "no-memory"};
  uint64_t failed = 0;
  for (const Work &work : kinds_of_work())
    for (const char *kind : kKinds) {
      if (kIsSanitized && random_.below(3) != 0) continue;
      const std::string fault = kind + (":" + std::to_string(random_.below(6)));
      const BatchShape shape =
          messages(work.cipher, work.direction, work.messages, work.length, random_.below(2) == 0);
      SCOPED_TRACE(shape.name() + ", " + fault);
      open_all({fault, "pace:30000"});
      EXPECT_EQ("", run(shape));
      EXPECT_EQ(work.messages * work.length, counted_);
      EXPECT_EQ(LC_DEVICE_READY, state(1)) << dispatcher_->device(1)->reason();
      failed += dispatcher_->device(0)->counters().failures != 0;
    }
  EXPECT_GT(failed, kinds_of_work().size() / (kIsSanitized ? 3 : 1)) << "hardly anything fails";
}

// The wrong device's output is discarded, and the other device is not blamed.
TEST_F(SharedWork, OneIsWrong) {
  for (const bool in_place : {true, false}) {
    open_second_to("wrong-blocks:1");
    EXPECT_EQ("", run(messages(LC_AES_CTR, LC_ENCRYPT, 1, 2 * kMiB, in_place)));
    EXPECT_EQ(LC_DEVICE_LOST, state(0));
    EXPECT_EQ(LC_DEVICE_READY, state(1));
  }
  // It is unknown which device made a tag wrong. Neither is trusted any more, and the tag that the
  // caller gets is right all the same.
  for (const bool in_place : {true, false}) {
    open_second_to("wrong-blocks:3");
    const Sealed sealed(LC_AES_GCM, LC_DECRYPT, kMiB + 7, in_place, random_);
    const Status status = submit(*dispatcher_, sealed.job())->wait();
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_EQ("", sealed.check());
    EXPECT_EQ(LC_DEVICE_LOST, state(0));
  }
}

TEST_F(SharedWork, OneIsStuck) {
  // The other device must complete something within this time, however slow it is.
  pipeline_.time_limit = std::chrono::milliseconds(kIsSanitized ? 3000 : 1500);
  for (const bool in_place : {true, false}) {
    std::atomic<bool> is_stuck{false};
    open_all({"stuck:3", "pace:30000"}, LC_FALLBACK_NONE, [&](size_t device, Step step) {
      if (step == Step::kStuck) is_stuck = true;
      EXPECT_TRUE(device == 0 || await([&] { return is_stuck.load(); }));
    });
    EXPECT_EQ("", run(messages(LC_AES_CTR, LC_ENCRYPT, 1, 2 * kMiB, in_place)));
    EXPECT_EQ(LC_DEVICE_LOST, state(0));
    EXPECT_EQ(LC_DEVICE_READY, state(1)) << dispatcher_->device(1)->reason();
  }
}

TEST_F(SharedWork, AllAreLost) {
  for (const lc_fallback fallback : {LC_FALLBACK_CPU, LC_FALLBACK_NONE}) {
    open_all({"lost-after:3", "lost-after:5"}, fallback);
    Batch batch(nullptr, messages(LC_AES_CTR, LC_ENCRYPT, 1, 3 * kMiB, true), random_);
    const Status status = submit(*dispatcher_, batch.job())->wait();
    if (fallback == LC_FALLBACK_CPU) {
      EXPECT_TRUE(status.ok()) << status.text();
      EXPECT_EQ("", batch.check());
      EXPECT_GT(dispatcher_->cpu_counters().bytes, 0u);
      EXPECT_EQ(batch.bytes(), counted());
    } else {
      EXPECT_EQ(LC_ERROR_DEVICE, status.code());
      EXPECT_EQ("", batch.check_pieces_or_untouched());
    }
  }
}

// Random devices, faults and numbers of pending jobs.
TEST_F(SharedWork, RandomFaults) {
  static const char *const kKinds[] = {"lost-after", "lost-upload", "lost-download", "fail-launch",
                                       "no-memory",  "no-pin",      "wrong-blocks",  "pace"};
  uint64_t shared = 0;
  for (uint64_t n = 0; n < scaled(60); ++n) {
    std::vector<std::string> faults(2 + random_.below(2));
    std::string all;
    for (std::string &fault : faults) {
      if (random_.below(3) != 0) {
        const std::string kind = kKinds[random_.below(std::size(kKinds))];
        fault = kind + ":" + std::to_string(kind == "pace" ? 30000 : random_.below(12));
      }
      all += " " + fault;
    }
    SCOPED_TRACE(std::to_string(n) + ":" + all);
    pipeline_.saves_cpu = random_.below(2) == 0;
    open_all(faults, LC_FALLBACK_CPU);
    std::vector<std::unique_ptr<Batch>> batches;
    std::vector<RequestPointer> requests;
    for (uint64_t jobs = 1 + random_.below(3); jobs > 0; --jobs) {
      BatchShape shape = random_shape(random_, 5, 6000);
      shape.data_memory = DataMemory::kHost;
      if (random_.below(2) == 0)
        shape =
            messages(random_.below(2) ? LC_AES_CTR : LC_AES_CBC, LC_DECRYPT, 1 + random_.below(2),
                     (1 + random_.below(40)) << 16, random_.below(2) == 0);
      batches.push_back(std::make_unique<Batch>(nullptr, shape, random_));
      requests.push_back(submit(*dispatcher_, batches.back()->job()));
    }
    for (size_t job = 0; job < requests.size(); ++job) {
      const Status status = requests[job]->wait();
      ASSERT_TRUE(status.ok()) << status.text();
      ASSERT_EQ("", batches[job]->check()) << batches[job]->shape().name();
    }
    shared += bytes(0) != 0 && bytes(1) != 0;
  }
  EXPECT_GT(shared, 0u);
}

// One job whose messages are in the memory of several devices.
class OnTheirDevices : public SharedWork {
 protected:
  uint8_t *allocate(uint32_t device, uint64_t size) {
    uint64_t address = 0;
    const Status status = dispatcher_->device(device)->call(
        [&](device::Device &, runtime::DeviceMemory &memory) -> Status {
          Result<uint64_t> made = memory.allocate(size);
          if (!made.ok()) return made.status();
          address = *made;
          return Status();
        });
    EXPECT_TRUE(status.ok()) << status.text();
    auto *pointer = reinterpret_cast<uint8_t *>(address);
    dispatcher_->add_device_memory(device, pointer, size);
    return pointer;
  }
  // An emulator's memory is memory of this process.
  static constexpr uint64_t kBytes = 5008;

  lc_cipher_job job(const std::vector<lc_message> &all, lc_cipher cipher = LC_AES_CTR) {
    lc_cipher_job made = {};
    made.struct_size = sizeof made;
    made.cipher = cipher;
    made.key_bytes = 16;
    made.memory = LC_MEMORY_DEVICE;
    made.device = LC_ANY_DEVICE;
    made.messages = all.data();
    made.message_count = all.size();
    made.message_size = sizeof(lc_message);
    return made;
  }
  const uint8_t key_[16] = {1, 2, 3};
  const uint8_t iv_[16] = {4, 5, 6};
};

TEST_F(OnTheirDevices, EachDoesItsOwn) {
  for (const lc_cipher cipher : {LC_AES_CTR, LC_AES_CBC, LC_AES_GCM}) {
    open_all({"", "", ""});
    std::vector<lc_message> all;
    std::vector<Bytes> before, tags(9, Bytes(16)), ivs(9, Bytes(iv_, iv_ + 16));
    for (uint32_t n = 0; n < 9; ++n) {
      uint8_t *at = allocate(n % 3, kBytes + 64) + 16 * (n / 3);
      random_.fill(at, kBytes);
      before.emplace_back(at, at + kBytes);
      ivs[n][0] = static_cast<uint8_t>(n);
      all.push_back(plain_message(key_, ivs[n].data(), at, at, kBytes));
      all.back().tag = tags[n].data();
    }
    const RequestPointer request = submit(*dispatcher_, job(all, cipher));
    const Status status = request->wait();
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(9 * kBytes, request->result.device_bytes);
    for (uint32_t n = 0; n < 3; ++n) EXPECT_EQ(3 * kBytes, bytes(n));
    for (uint32_t n = 0; n < 9; ++n) {
      Bytes right(kBytes), tag(16);
      const Bytes nonce(ivs[n].begin(), ivs[n].begin() + 12);
      if (cipher == LC_AES_GCM)
        reference_seal({cipher, 16, key_, nonce, {}}, before[n].data(), right.data(), kBytes,
                       tag.data());
      else
        reference_crypt({cipher, LC_ENCRYPT, 16}, key_, ivs[n].data(), before[n].data(),
                        right.data(), kBytes);
      const auto *out = static_cast<const uint8_t *>(all[n].out);
      EXPECT_EQ(right, Bytes(out, out + kBytes)) << n;
      if (cipher == LC_AES_GCM) {
        EXPECT_EQ(tag, tags[n]) << n;
      }
    }
  }
}

TEST_F(OnTheirDevices, AJobGoesWhereItsMemoryIs) {
  open_all({"", ""});
  uint8_t *at = allocate(1, kBytes);
  const std::vector<lc_message> all = {plain_message(key_, iv_, at + 16, at + 16, kBytes - 16)};
  EXPECT_TRUE(submit(*dispatcher_, job(all))->wait().ok());
  EXPECT_EQ(0u, bytes(0));
  EXPECT_EQ(kBytes - 16, bytes(1));
}

TEST_F(OnTheirDevices, NoMessageLiesOnTwo) {
  open_all({"", ""});
  const std::vector<lc_message> all = {
      plain_message(key_, iv_, allocate(0, kBytes), allocate(1, kBytes), kBytes)};
  const lc_cipher_job wrong = job(all);
  Result<CipherJob> checked = make_cipher_job(&wrong);
  ASSERT_TRUE(checked.ok());
  const Status status =
      dispatcher_->submit(std::make_shared<Request>(std::move(*checked), nullptr));
  EXPECT_EQ(LC_ERROR_ARGUMENT, status.code());
  EXPECT_NE(std::string::npos, status.text().find("two devices")) << status.text();
}

TEST_F(OnTheirDevices, OneIsLost) {
  open_all({"", "lost-after:0"}, LC_FALLBACK_CPU);
  uint8_t *good = allocate(0, kBytes), *bad = allocate(1, kBytes);
  const std::vector<lc_message> all = {plain_message(key_, iv_, good, good, kBytes),
                                       plain_message(key_, iv_, bad, bad, kBytes)};
  const Status status = submit(*dispatcher_, job(all))->wait();
  EXPECT_EQ(LC_ERROR_DEVICE, status.code());
  EXPECT_EQ(LC_DEVICE_READY, state(0));
  EXPECT_EQ(LC_DEVICE_LOST, state(1));
  EXPECT_EQ(0u, dispatcher_->cpu_counters().bytes);
}

}  // namespace
}  // namespace lanecrypt::test
