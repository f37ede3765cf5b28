// Cipher jobs on devices that fail in every way, at every stage, at random. The caller gets the
// right bytes, from the CPU if need be, and no memory is left behind. Runs on every device.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "device/host/host_device.h"
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

using runtime::Dispatcher;
using runtime::DispatcherOptions;
using runtime::RequestPointer;

constexpr uint64_t kMiB = 1 << 20;

DispatcherOptions options_for(lc_verify verify, lc_fallback fallback = LC_FALLBACK_CPU) {
  DispatcherOptions options;
  options.fallback = fallback;
  options.pipeline.verify = verify;
  // A thousand self-tests would take minutes.
  options.pipeline.skip_self_test = true;
  return options;
}

// The emulator simulates faults itself. For other devices a wrapper simulates them.
class Trust : public testing::TestWithParam<DeviceCase> {
 protected:
  void SetUp() override {
    const DeviceCase &device = GetParam();
    ASSERT_TRUE(!device.absent || device.is_gpu) << device.id << " is not here";
    if (device.absent) GTEST_SKIP() << "needs a GPU: none was found";
    // A table form needs only a few streams to keep its threads busy.
    if (!device.is_gpu && !device.is_gl())
      form_ = std::make_unique<ScopedEnvironment>("LANECRYPT_AES_FORM", "table1");
    if (is_emulator()) return;
    // While the device is open, opening it again is faster, and its kernels are compiled.
    found_ = find_device(device.id);
    open("", options_for(LC_VERIFY_SAMPLED));
    for (const lc_cipher cipher : plain_modes())
      for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
        ASSERT_EQ("", run(one(cipher, direction, 4096, false)));
    keeper_ = std::move(dispatcher_);
  }
  bool is_emulator() const { return GetParam().id.starts_with("host:"); }
  bool offers(lc_cipher cipher) const {
    return !GetParam().is_gl() || cipher == LC_AES_ECB || cipher == LC_AES_CBC ||
           cipher == LC_AES_CTR;
  }
  // Scales counts of random cases, since opening a device takes longer than a case.
  uint64_t scaled_here(uint64_t count) const {
    return std::max<uint64_t>(scaled(is_emulator() ? count : count / 8), 1);
  }

  // Makes a dispatcher whose device fails as `fault` says.
  void open(const std::string &fault, DispatcherOptions options) {
    dispatcher_.reset();
    fault_.reset();  // restores the old value
    options.devices = GetParam().id;
    if (is_emulator())
      fault_ = std::make_unique<ScopedEnvironment>("LANECRYPT_HOST_FAULT", fault.c_str());
    else
      options.find = [this, fault] {
        return device::DeviceEnumeration{{with_faults(found_, fault)}, {}};
      };
    dispatcher_ = std::make_unique<Dispatcher>(options);
    // The device reads the fault when it is opened.
    (void)dispatcher_->device(0)->make_ready();
  }
  // Returns the bytes in use after the device is closed.
  uint64_t bytes_in_use() {
    dispatcher_.reset();
    const struct mallinfo2 memory = mallinfo2();
    return memory.uordblks + memory.hblkhd;
  }
  // Returns this fault at random. With it the sums of tags are copied, as on devices that have no
  // other way.
  const char *sometimes_out_of_reach() { return random_.below(2) == 0 ? ",no-reach:0" : ""; }
  Dispatcher &dispatcher() { return *dispatcher_; }
  std::string reason() { return dispatcher_->device(0)->reason(); }
  lc_device_state state() { return dispatcher_->device(0)->state(); }
  uint64_t failures() { return dispatcher_->device(0)->counters().failures; }

  // Runs a job. Returns "" if the result is right.
  std::string run(const BatchShape &shape) {
    Batch batch(nullptr, shape, random_);
    const RequestPointer request = submit(dispatcher(), batch.job());
    const Status status = request->wait();
    return status.ok() ? batch.check() : "failed: " + status.text();
  }

  static BatchShape one(lc_cipher cipher, lc_direction direction, uint64_t length, bool in_place) {
    BatchShape shape;
    shape.cipher = cipher;
    shape.direction = direction;
    shape.key_bytes = key_sizes(cipher).back();
    MessageShape message;
    message.length = length;
    message.in_place = in_place;
    shape.messages = {message};
    return shape;
  }

  std::unique_ptr<ScopedEnvironment> form_, fault_;
  device::Found found_;
  std::unique_ptr<Dispatcher> keeper_, dispatcher_;
  Random random_{61};
};

// Every block that is downloaded is wrong, so any sample shows it.
TEST_P(Trust, WrongBlocksAreFoundInEveryMode) {
  for (const lc_cipher cipher : plain_modes())
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
      for (const bool in_place : {false, true}) {
        if (!offers(cipher)) continue;
        // Opening such a device takes long, so each mode has one direction in place and the other
        // one not.
        if (GetParam().is_opencl_on_cpu() && in_place != ((int{cipher} + int{direction}) % 2 == 0))
          continue;
        BatchShape shape = one(cipher, direction, 0, in_place);
        shape.messages[0].length = allowed_length(cipher, 0, 5008 + 16 * random_.below(16) + 7);
        if (cipher_info(cipher).has_data_units() && in_place) shape.data_unit_bytes = 496;
        SCOPED_TRACE(shape.name());
        open("wrong-blocks:0", options_for(LC_VERIFY_SAMPLED));
        EXPECT_EQ("", run(shape));
        EXPECT_EQ(LC_DEVICE_LOST, state());
        EXPECT_NE(std::string::npos, reason().find("wrong output")) << reason();
        EXPECT_EQ(1u, failures());
        EXPECT_EQ(0u, dispatcher().device(0)->counters().bytes);
      }
  for (const lc_cipher cipher : {LC_AES_GCM, LC_AES_CCM, LC_CHACHA20_POLY1305})
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
      for (const bool in_place : {false, true}) {
        open("wrong-blocks:0", options_for(LC_VERIFY_SAMPLED));
        const Sealed sealed(cipher, direction, 7001, in_place, random_);
        const Status status = submit(dispatcher(), sealed.job())->wait();
        EXPECT_TRUE(status.ok()) << status.text();
        EXPECT_EQ("", sealed.check()) << cipher << " " << direction << " " << in_place;
        EXPECT_EQ(offers(cipher) ? LC_DEVICE_LOST : LC_DEVICE_READY, state())
            << cipher << " " << in_place;
      }
}

// With LC_VERIFY_OFF the output is not checked. This shows that the test above can fail.
TEST_P(Trust, OffMeansOff) {
  open("wrong-blocks:0", options_for(LC_VERIFY_OFF));
  EXPECT_NE("", run(one(LC_AES_CTR, LC_ENCRYPT, 5000, false)));
  EXPECT_EQ(LC_DEVICE_READY, state());
}

// Right output of any length is accepted.
TEST_P(Trust, RightOutputIsBelieved) {
  for (const lc_verify verify : {LC_VERIFY_SAMPLED, LC_VERIFY_FULL}) {
    open("", options_for(verify));
    for (uint64_t n = 0; n < scaled_here(150); ++n) {
      BatchShape shape = random_shape(random_, 6, 9000);
      shape.data_memory = DataMemory::kHost;
      ASSERT_EQ("", run(shape)) << shape.name();
      if (!offers(LC_AES_GCM)) continue;
      const Sealed sealed(n % 2 ? LC_AES_GCM : LC_CHACHA20_POLY1305,
                          static_cast<lc_direction>(n / 2 % 2), random_.below(5000), n % 3 == 0,
                          random_);
      ASSERT_TRUE(submit(dispatcher(), sealed.job())->wait().ok());
      ASSERT_EQ("", sealed.check());
    }
    for (const lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305})
      for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
        Sealed sealed(cipher, direction, 9000, direction == LC_ENCRYPT, random_);
        for (const auto &[from, length] : {std::pair{0, 4096}, {4096, 4904}}) {
          const lc_status status = submit(dispatcher(), sealed.part(from, length))->wait().code();
          ASSERT_EQ(LC_OK, status) << cipher << " from " << from;
        }
        EXPECT_TRUE(sealed.text_is_right()) << cipher;
      }
    for (const lc_cipher cipher : {LC_AES_CTR, LC_AES_CBC, LC_AES_XTS, LC_AES_OFB, LC_AES_CFB128})
      EXPECT_EQ("", run(one(cipher, LC_ENCRYPT, 5 * kMiB, cipher != LC_AES_XTS)));
    // Slices, each of which continues the one before.
    BatchShape slices = one(LC_AES_CBC, LC_ENCRYPT, kMiB, true);
    slices.messages.resize(18, slices.messages[0]);
    EXPECT_EQ("", run(slices));
    EXPECT_EQ(LC_DEVICE_READY, state()) << reason();
    if (offers(LC_AES_GCM)) {
      EXPECT_EQ(0u, dispatcher().cpu_counters().bytes);
    }
  }
}

// One bit in a MiB is wrong, anywhere. Only a check of everything always finds it.
TEST_P(Trust, FullFindsOneBit) {
  for (const lc_cipher cipher : plain_modes())
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT}) {
      open("flip-bit:0", options_for(LC_VERIFY_FULL));
      const uint64_t length = allowed_length(cipher, 0, 20000 + random_.below(20));
      EXPECT_EQ("", run(one(cipher, direction, length, random_.below(2) == 0)));
      EXPECT_EQ(offers(cipher) ? LC_DEVICE_LOST : LC_DEVICE_READY, state())
          << cipher << " " << direction;
    }
  // One bit of the text, or of the tag's sums, which are returned in two ways.
  for (const char *fault :
       {"flip-bit:0", "flip-bit:1", "flip-bit:0,no-reach:0", "flip-bit:1,no-reach:0"})
    for (const lc_cipher cipher : {LC_AES_GCM, LC_CHACHA20_POLY1305}) {
      open(fault, options_for(LC_VERIFY_FULL));
      const Sealed sealed(cipher, LC_ENCRYPT, 5000, true, random_);
      EXPECT_TRUE(submit(dispatcher(), sealed.job())->wait().ok());
      EXPECT_EQ("", sealed.check());
      EXPECT_EQ(offers(cipher) ? LC_DEVICE_LOST : LC_DEVICE_READY, state())
          << fault << " " << cipher;
    }
}

// A right tag that only the device finds wrong is accepted.
TEST_P(Trust, WrongTagsAreNotBelieved) {
  const bool can_reach = find_device(GetParam().id).properties.reaches_pinned;
  for (const lc_cipher cipher : {LC_AES_GCM, LC_AES_CCM, LC_CHACHA20_POLY1305})
    for (const bool in_place : {false, true})
      for (const uint64_t length : {uint64_t{0}, uint64_t{5001}, uint64_t{5002}}) {
        // The text is right. Its sums are downloaded after it, or before it if kernels write them.
        const bool reaches = length != 5002 && can_reach;
        const std::string fault = length == 0 || reaches ? "wrong-download:0" : "wrong-download:1";
        open(reaches ? fault : fault + ",no-reach:0", options_for(LC_VERIFY_SAMPLED));
        const Sealed sealed(cipher, LC_DECRYPT, length, in_place, random_);
        const Status status = submit(dispatcher(), sealed.job())->wait();
        EXPECT_TRUE(status.ok()) << status.text();
        EXPECT_EQ("", sealed.check());
        EXPECT_EQ(offers(cipher) ? LC_DEVICE_LOST : LC_DEVICE_READY, state())
            << cipher << " " << in_place << " " << length;
      }
}

// Nothing that a device produced before it was found wrong is kept.
TEST_P(Trust, TheWholeRequestIsDoneAgain) {
  BatchShape shape = one(LC_AES_CTR, LC_ENCRYPT, 14 * kMiB, false);
  open("wrong-blocks:2", options_for(LC_VERIFY_SAMPLED));
  Batch batch(nullptr, shape, random_);
  const RequestPointer request = submit(dispatcher(), batch.job());
  EXPECT_TRUE(request->wait().ok());
  EXPECT_EQ("", batch.check());
  EXPECT_EQ(batch.bytes(), request->result.cpu_bytes);
  EXPECT_EQ(0u, request->result.device_bytes);
  EXPECT_GT(dispatcher().device(0)->counters().bytes, 0u) << "it had done nothing before";
}

// How the bytes of a large message are transferred to the device.
enum class HostPath { kCopied, kPinnedInPlace, kPinnedByCaller };

// If output overwrites its input, the input stays intact until the output is known to be right,
// whatever fails and whenever. In each run something fails one step later, until nothing fails.
TEST_P(Trust, InPlaceDataSurviveEveryFaultAtEveryStage) {
  struct Case {
    lc_cipher cipher;
    lc_direction direction;
    uint64_t length;
    size_t messages;
  };
  // Modes that read earlier input (CBC and CFB decryption), modes that continue from earlier output
  // (OFB and CBC encryption, in slices), and others.
  static const Case kCases[] = {
      {LC_AES_CTR, LC_ENCRYPT, 9 * kMiB + 5, 1},    {LC_AES_CBC, LC_DECRYPT, 9 * kMiB, 1},
      {LC_AES_CFB128, LC_DECRYPT, 9 * kMiB + 5, 1}, {LC_AES_CBC_CS3, LC_DECRYPT, 9 * kMiB + 5, 1},
      {LC_AES_XTS, LC_ENCRYPT, 4 * kMiB, 2},        {LC_AES_CBC, LC_ENCRYPT, 6 * kMiB, 3},
      {LC_AES_OFB, LC_ENCRYPT, 6 * kMiB + 5, 3}};
  static const char *const kKinds[] = {"lost-upload", "lost-after", "lost-download", "fail-launch",
                                       "wrong-blocks"};
  const uint64_t stride = is_scaled_down() ? 11 : !is_emulator() || !wants_every_case() ? 6 : 3;
  const uint64_t pinned = device::count_pinned_in_place();  // by stuck devices
  uint64_t found = 0;
  for (const Case &what : kCases)
    for (const char *kind : kKinds) {
      if (!offers(what.cipher)) continue;
      uint64_t n = random_.below(stride);
      for (bool struck = true; struck && n < 40; n += stride) {
        const HostPath path = static_cast<HostPath>(random_.below(3));
        const std::string fault = kind + (":" + std::to_string(n));
        DispatcherOptions options = options_for(LC_VERIFY_SAMPLED);
        options.pipeline.saves_cpu = path == HostPath::kPinnedInPlace;
        // The number of chunks stays the same with a quarter of the bytes, except where only long
        // ones are pinned.
        const uint64_t smaller = path == HostPath::kPinnedInPlace ? 1 : 4;
        options.pipeline.least_chunk_bytes /= smaller;
        options.pipeline.most_chunk_bytes /= smaller;
        open(fault, options);
        const uint64_t length = allowed_length(what.cipher, 0, what.length / smaller);
        BatchShape shape = one(what.cipher, what.direction, length, true);
        shape.messages.resize(what.messages, shape.messages[0]);
        SCOPED_TRACE(shape.name() + ", " + fault + ", path " + std::to_string(int(path)));
        Batch batch(nullptr, shape, random_);
        const lc_cipher_job job = batch.job();
        for (size_t m = 0; m < what.messages; ++m)
          if (path == HostPath::kPinnedByCaller)
            dispatcher().pinned().add(job.messages[m].in, job.messages[m].length);
        const Status status = submit(dispatcher(), job)->wait();
        ASSERT_TRUE(status.ok()) << status.text();
        ASSERT_EQ("", batch.check());
        struck = state() == LC_DEVICE_LOST;
        found += struck;
        ASSERT_EQ(pinned, device::count_pinned_in_place());
      }
      EXPECT_LT(n, 40u + stride) << kind << " strikes for ever";
    }
  EXPECT_GT(found, std::size(kCases));
}

// The same for a message with a tag.
TEST_P(Trust, SealedInPlaceDataSurviveEveryLoss) {
  for (const lc_cipher cipher : {LC_AES_GCM, LC_AES_CCM, LC_CHACHA20_POLY1305})
    for (const lc_direction direction : {LC_ENCRYPT, LC_DECRYPT})
      for (const char *kind : {"lost-upload", "lost-after", "lost-download"}) {
        const std::string fault =
            kind + (":" + std::to_string(random_.below(12))) + sometimes_out_of_reach();
        SCOPED_TRACE(std::to_string(cipher) + " " + std::to_string(direction) + " " + fault);
        DispatcherOptions options = options_for(LC_VERIFY_SAMPLED);
        options.pipeline.saves_cpu = random_.below(2) == 0;
        open(fault, options);
        const Sealed sealed(cipher, direction, 9 * kMiB + 5, true, random_);
        const Status status = submit(dispatcher(), sealed.job())->wait();
        ASSERT_TRUE(status.ok()) << status.text();
        ASSERT_EQ("", sealed.check());
      }
}

// Checks that the tests above use the host path that they are for. Output in place is never pinned.
TEST_P(Trust, PinnedMemoryIsUsed) {
  if (!is_emulator()) GTEST_SKIP() << "only the emulator tells what is pinned";
  const uint64_t pinned = device::count_pinned_in_place();  // by stuck devices
  for (const bool in_place : {false, true}) {
    DispatcherOptions options = options_for(LC_VERIFY_SAMPLED);
    options.pipeline.saves_cpu = true;
    open("no-pin:0", options);
    EXPECT_EQ("", run(one(LC_AES_CTR, LC_ENCRYPT, 9 * kMiB, in_place)));
    EXPECT_EQ(LC_DEVICE_READY, state());
    open("", options);
    // Two chunks are pinned. The third is too short.
    const uint64_t before = device::pinnings_in_place();
    EXPECT_EQ("", run(one(LC_AES_CTR, LC_ENCRYPT, 9 * kMiB, in_place)));
    EXPECT_EQ(in_place ? 2u : 4u, device::pinnings_in_place() - before);
    EXPECT_EQ(pinned, device::count_pinned_in_place());
  }
}

TEST_P(Trust, AStuckDeviceIsGivenUp) {
  if (GetParam().is_gl()) GTEST_SKIP() << "OpenGL is waited for on its one thread, without a limit";
  // Memory that a stuck device has pinned stays pinned. If it were freed, a driver could place
  // memory of the next device at the same addresses, and fail because they are in use.
  std::vector<std::unique_ptr<Batch>> pinned;
  for (const bool in_place : {false, true})
    for (const uint64_t length : {uint64_t{5000}, 9 * kMiB}) {
      DispatcherOptions options = options_for(LC_VERIFY_SAMPLED);
      options.pipeline.time_limit = std::chrono::milliseconds(is_emulator() ? 200 : 1000);
      options.pipeline.saves_cpu = true;
      // The kernels of one launch may do all short jobs.
      open("stuck:" + std::to_string(length > kMiB ? random_.below(4) : 0), options);
      std::vector<std::unique_ptr<Batch>> batches;
      std::vector<RequestPointer> requests;
      for (int n = 0; n < 3; ++n) {
        batches.push_back(std::make_unique<Batch>(
            nullptr, one(LC_AES_CTR, LC_ENCRYPT, length, in_place), random_));
        requests.push_back(submit(dispatcher(), batches.back()->job()));
      }
      for (int n = 0; n < 3; ++n) {
        const Status status = requests[n]->wait();
        EXPECT_TRUE(status.ok()) << status.text();
        EXPECT_EQ("", batches[n]->check());
      }
      EXPECT_EQ(LC_DEVICE_LOST, state());
      EXPECT_NE(std::string::npos, reason().find("stuck")) << reason();
      std::move(batches.begin(), batches.end(), std::back_inserter(pinned));
    }
}

// A device that always lacks memory stays in service, and is not retried forever.
TEST_P(Trust, MemoryThatIsShortEveryTime) {
  open("no-memory:0+", options_for(LC_VERIFY_SAMPLED));
  EXPECT_EQ("", run(one(LC_AES_CTR, LC_ENCRYPT, 5000, false)));
  EXPECT_EQ(LC_DEVICE_READY, state());
  EXPECT_GE(failures(), 1u);
  EXPECT_EQ(5000u, dispatcher().cpu_counters().bytes);

  open("no-memory:0+", options_for(LC_VERIFY_SAMPLED, LC_FALLBACK_NONE));
  Batch batch(nullptr, one(LC_AES_CTR, LC_ENCRYPT, 5000, false), random_);
  EXPECT_EQ(LC_ERROR_MEMORY, submit(dispatcher(), batch.job())->wait().code());
}

// Random faults, several at once, while several jobs are pending.
TEST_P(Trust, RandomFaults) {
  static const char *const kKinds[] = {"lost-after", "lost-upload", "lost-download", "fail-launch",
                                       "no-memory",  "no-pin",      "wrong-blocks",  "flip-bit"};
  const uint64_t schedules = scaled_here(1000);
  const uint64_t pinned = device::count_pinned_in_place();  // by stuck devices
  uint64_t in_use = 0, lost = 0, by_device = 0;
  for (uint64_t n = 0; n < schedules; ++n) {
    const bool is_large = n % 50 == 49;
    std::string faults;
    bool needs_full = false, seals = true;
    for (uint64_t count = 1 + random_.below(3); count > 0; --count) {
      const std::string kind = kKinds[random_.below(std::size(kKinds))];
      // Samples do not find a wrong tag that the device has made.
      needs_full = needs_full || kind == "flip-bit";
      seals = seals && kind != "wrong-blocks";
      faults += (faults.empty() ? "" : ",") + kind + ":" + std::to_string(random_.below(8));
    }
    faults += sometimes_out_of_reach();
    SCOPED_TRACE(std::to_string(n) + ": " + faults);
    DispatcherOptions options = options_for(needs_full ? LC_VERIFY_FULL : LC_VERIFY_SAMPLED);
    options.pipeline.saves_cpu = random_.below(2) == 0;
    open(faults, options);
    std::vector<std::unique_ptr<Batch>> batches;
    std::vector<std::unique_ptr<Sealed>> sealed;
    std::vector<RequestPointer> requests;
    for (uint64_t jobs = is_large ? 1 : 1 + random_.below(4); jobs > 0; --jobs) {
      BatchShape shape = random_shape(random_, 5, 6000);
      shape.data_memory = DataMemory::kHost;
      if (is_large)
        shape = one(random_.below(2) ? LC_AES_CTR : LC_AES_ECB, LC_DECRYPT, 9 * kMiB + 4096,
                    random_.below(2) == 0);
      batches.push_back(std::make_unique<Batch>(nullptr, shape, random_));
      requests.push_back(submit(dispatcher(), batches.back()->job()));
    }
    for (uint64_t jobs = random_.below(3); jobs > 0; --jobs) {
      sealed.push_back(std::make_unique<Sealed>(
          random_.below(2) ? LC_AES_GCM : LC_CHACHA20_POLY1305,
          seals || needs_full ? static_cast<lc_direction>(random_.below(2)) : LC_DECRYPT,
          random_.below(6000), random_.below(2) == 0, random_));
      requests.push_back(submit(dispatcher(), sealed.back()->job()));
    }
    for (size_t job = 0; job < requests.size(); ++job) {
      const Status status = requests[job]->wait();
      const bool is_batch = job < batches.size();
      ASSERT_TRUE(status.ok()) << status.text();
      ASSERT_EQ("", is_batch ? batches[job]->check() : sealed[job - batches.size()]->check())
          << (is_batch ? batches[job]->shape().name() : "authenticated");
    }
    lost += state() == LC_DEVICE_LOST;
    by_device += dispatcher().device(0)->counters().bytes;
    ASSERT_EQ(pinned, device::count_pinned_in_place());
    if (n == schedules / 4) in_use = bytes_in_use();
  }
  // Other devices need fewer copies and launches, so fewer faults strike.
  EXPECT_GT(lost, is_emulator() ? schedules / 4 : 0);
  EXPECT_LT(lost, schedules);
  EXPECT_GT(by_device, 0u);
  if (!kIsSanitized) {
    EXPECT_LT(bytes_in_use(), in_use + (is_emulator() ? 4 : 16) * kMiB)
        << "memory grows with every fault";
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Trust, testing::ValuesIn(devices_under_test()), device_case_name);

}  // namespace
}  // namespace lanecrypt::test
