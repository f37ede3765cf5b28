// SPDX-License-Identifier: Apache-2.0
#include "devices.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>

namespace lanecrypt::test {
namespace {

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

std::vector<DeviceCase> present_devices() {
  // Enumerates every API. A list in LANECRYPT_DEVICES would restrict the enumeration.
  const ScopedEnvironment nobodys("LANECRYPT_DEVICES", nullptr);
  Context all(nullptr, LC_FALLBACK_CPU);
  uint32_t count = 0;
  if (lc_device_count(all.get(), &count) != LC_OK)
    throw std::runtime_error(std::string("no list of devices: ") + lc_last_error());
  std::vector<DeviceCase> found;
  for (uint32_t index = 0; index < count; index++) {
    lc_device_info info = all.device(index);
    found.push_back({info.id, "", info.is_gpu != 0, false});
  }
  // Without the emulator the tests of each device would have no case, and count as skipped.
  if (std::none_of(found.begin(), found.end(),
                   [](const DeviceCase &device) { return device.id == "host:0"; }))
    throw std::runtime_error("the emulator is not listed, which every build for tests has");
  return found;
}

std::vector<DeviceCase> choose(const std::vector<DeviceCase> &present, const std::string &list) {
  std::vector<DeviceCase> chosen;
  std::istringstream split(list);
  for (std::string wanted; std::getline(split, wanted, ',');) {
    size_t before = chosen.size();
    for (const DeviceCase &device : present)
      if (device.id == wanted || device.id.rfind(wanted + ":", 0) == 0) chosen.push_back(device);
    if (chosen.size() == before) chosen.push_back({wanted, "", false, true});
  }
  return chosen;
}

// One context for all tests of a case, by the case's name. They share it because opening a device
// checks a megabyte of every mode on it.
std::map<std::string, std::unique_ptr<Context>> &open_contexts() {
  static std::map<std::string, std::unique_ptr<Context>> all;
  return all;
}
class CloseContexts : public testing::Environment {
  void TearDown() override { open_contexts().clear(); }
};
const testing::Environment *const close_contexts =
    testing::AddGlobalTestEnvironment(new CloseContexts);

}  // namespace

std::string DeviceCase::name() const {
  std::string name = form.empty() ? id : id + "_" + form;
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

void PrintTo(const DeviceCase &device, std::ostream *stream) { *stream << device.name(); }

std::vector<DeviceCase> devices_under_test() {
  static const std::vector<DeviceCase> devices = [] {
    std::vector<DeviceCase> present = present_devices();
    std::string list = environment("LANECRYPT_TEST_DEVICES");
    if (!list.empty()) return choose(present, list);
    bool any_gpu = false;
    for (const DeviceCase &device : present) any_gpu |= device.is_gpu;
    if (!any_gpu) present.push_back({"gpu", "", true, true});
    return present;
  }();
  return devices;
}

std::vector<DeviceCase> devices_in_every_form() {
  std::vector<DeviceCase> all;
  for (const DeviceCase &device : devices_under_test()) {
    if (device.absent) {
      all.push_back(device);
      continue;
    }
    // OpenCL and OpenGL on a CPU need not run every form: the emulator runs the same kernels.
    if (!device.is_gpu && device.id != "host:0" && !wants_every_case()) {
      all.push_back(device);
      continue;
    }
    for (const std::string_view form : {"table4", "table1", "bitslice"}) {
      // GPUs choose one of the other two by themselves, and long streams on the emulator use
      // table1.
      if (form == "table1" && !device.is_gpu && !wants_every_case()) continue;
      all.push_back(device);
      all.back().form = form;
    }
  }
  return all;
}

std::vector<DeviceCase> devices_for_one_stream() {
  std::vector<DeviceCase> devices = devices_under_test();
  for (DeviceCase &device : devices)
    if (!device.is_gpu && !device.absent) device.form = "table1";
  return devices;
}

std::string device_case_name(const testing::TestParamInfo<DeviceCase> &info) {
  return info.param.name();
}

void PrintTo(const RsaCase &one, std::ostream *stream) { *stream << one.device.id << one.form; }

std::vector<RsaCase> rsa_cases() {
  std::vector<RsaCase> cases;
  for (const DeviceCase &device : devices_under_test()) {
    if (device.is_gl()) continue;  // it has no RSA
    for (const char *form : {"fp64", "u32"})
      if (!device.id.starts_with("opencl") || form[0] == 'u') cases.push_back({device, form});
  }
  return cases;
}

std::string rsa_case_name(const testing::TestParamInfo<RsaCase> &info) {
  return info.param.device.name() + "_" + info.param.form;
}

ScopedEnvironment::ScopedEnvironment(const char *name, const char *value)
    : name_(name), old_(environment(name)), was_set_(std::getenv(name) != nullptr) {
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

ScopedEnvironment::~ScopedEnvironment() {
  if (was_set_)
    setenv(name_.c_str(), old_.c_str(), 1);
  else
    unsetenv(name_.c_str());
}

Context::Context(const char *devices, lc_fallback fallback, uint64_t pinned_bytes)
    : Context(lc_options{.struct_size = sizeof(lc_options),
                         .devices = devices,
                         .fallback = fallback,
                         .pinned_bytes = pinned_bytes,
                         .verify = LC_VERIFY_SAMPLED,
                         .time_limit_ms = 0,
                         .prefer = LC_PREFER_SPEED,
                         .prime_pool = 0,
                         .cores = 0,
                         .service = nullptr,
                         .service_owner = nullptr}) {}

Context::Context(const lc_options &options) {
  if (lc_open(&options, &context_) != LC_OK)
    throw std::runtime_error(std::string("lc_open: ") + lc_last_error());
}

lc_counters Context::counters(uint32_t index) const {
  lc_counters counters{};
  counters.struct_size = sizeof counters;
  if (lc_counters_get(context_, index, &counters) != LC_OK)
    throw std::runtime_error(std::string("lc_counters_get: ") + lc_last_error());
  return counters;
}

lc_device_info Context::device(uint32_t index) const {
  lc_device_info info{};
  info.struct_size = sizeof info;
  if (lc_device_get(context_, index, &info) != LC_OK)
    throw std::runtime_error(std::string("lc_device_get: ") + lc_last_error());
  return info;
}

void DeviceTest::SetUp() {
  const DeviceCase &device = GetParam();
  if (device.absent) {
    ASSERT_TRUE(device.is_gpu) << "LANECRYPT_TEST_DEVICES names " << device.id
                               << ", which is not here";
    ASSERT_NE("1", environment("LANECRYPT_REQUIRE_GPU")) << "needs a GPU: none was found";
    GTEST_SKIP() << "needs a GPU: none was found";
  }
  if (!device.form.empty())
    form_ = std::make_unique<ScopedEnvironment>("LANECRYPT_AES_FORM", device.form.c_str());
  std::unique_ptr<Context> &open = open_contexts()[device.name()];
  if (open == nullptr) {
    auto opened = std::make_unique<Context>(device.id.c_str(), LC_FALLBACK_NONE);
    ASSERT_EQ(device.id, opened->device(0).id);
    if (!device.form.empty()) {
      lc_status status = lc_device_test(opened->get(), 0);
      const std::string why = lc_last_error();
      if (status != LC_OK && why.find("cannot run LANECRYPT_AES_FORM") != std::string::npos) {
        ASSERT_EQ(LC_ERROR_NO_DEVICE, status);
        GTEST_SKIP() << why;
      }
      LANECRYPT_ASSERT_OK(status);
    }
    open = std::move(opened);
  }
  context_ = open.get();
  before_ = context_->counters(0);
}

void DeviceTest::TearDown() {
  if (context_ == nullptr) return;
  lc_counters device = context_->counters(0), cpu = context_->counters(LC_CPU);
  EXPECT_EQ(bytes_, device.bytes - before_.bytes) << "bytes on " << GetParam().id;
  EXPECT_EQ(jobs_, device.jobs - before_.jobs) << "jobs on " << GetParam().id;
  EXPECT_EQ(bytes_ > 0, device.launches > before_.launches);
  EXPECT_EQ(0u, device.failures);
  EXPECT_EQ(0u, cpu.bytes) << "bytes on the CPU";
  EXPECT_EQ(0u, cpu.jobs);
  // Drops the context, so that a failed test cannot affect the next one.
  if (HasFailure()) open_contexts().erase(GetParam().name());
}

bool DeviceTest::is_quick() const { return GetParam().is_opencl_on_cpu(); }

bool DeviceTest::is_thorough() const { return GetParam().is_gpu && scaled(100) >= 100; }

void DeviceTest::expect_done(const lc_cipher_job &job) {
  uint64_t bytes = 0;
  for (size_t n = 0; n < job.message_count; n++) bytes += job.messages[n].length;
  expect_done(bytes > 0, bytes);
}

void DeviceTest::expect_done(uint64_t jobs, uint64_t bytes) {
  jobs_ += jobs;
  bytes_ += bytes;
}

bool DeviceTest::offers(lc_cipher cipher) const {
  return !GetParam().is_gl() || cipher == LC_AES_ECB || cipher == LC_AES_CBC ||
         cipher == LC_AES_CTR;
}

BatchShape DeviceTest::random_shape(Random &random, uint64_t most_messages,
                                    uint64_t most_bytes) const {
  while (true) {
    BatchShape shape = test::random_shape(random, most_messages, most_bytes);
    if (offers(shape.cipher)) return shape;
  }
}

void DeviceTest::run(const lc_cipher_job &job) {
  lc_result result{};
  result.struct_size = sizeof result;
  LANECRYPT_ASSERT_OK(lc_run(context(), &job, &result));
  expect_done(job);
  uint64_t bytes = 0;
  for (size_t n = 0; n < job.message_count; n++) bytes += job.messages[n].length;
  EXPECT_EQ(bytes, result.device_bytes);
  EXPECT_EQ(0u, result.cpu_bytes);
}

void DeviceTest::run_and_check(Batch &batch) {
  SCOPED_TRACE(batch.shape().name());
  if (!offers(batch.shape().cipher) && batch.bytes() > 0) {
    const lc_cipher_job job = batch.job();
    EXPECT_EQ(LC_ERROR_UNSUPPORTED, lc_run(context(), &job, nullptr));
    EXPECT_NE(std::string::npos, std::string(lc_last_error()).find("does no ")) << lc_last_error();
    return;
  }
  run(batch.job());
  EXPECT_EQ("", batch.check());
}

}  // namespace lanecrypt::test
