// The devices that the tests run on, and the fixture that opens one and checks, when a test ends,
// that the device did the work and the CPU did none.
//
// LANECRYPT_TEST_DEVICES  device ids or APIs, separated by commas: only these are tested. The tests
//                         of one that is missing fail.
// LANECRYPT_REQUIRE_GPU   1: a test that needs a GPU fails without one.
// LANECRYPT_TEST_EVERY_FORM   1: OpenCL and OpenGL on a CPU in every form too, and all cases.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "batch.h"
#include "lanecrypt/lanecrypt.h"
#include "test_scale.h"

namespace lanecrypt::test {

struct DeviceCase {
  std::string id;    // "opencl:0"; for an absent device, what was looked for
  std::string form;  // form of the kernels: "table4", ...; empty: the device's own choice
  bool is_gpu = false;
  bool absent = false;

  std::string name() const;  // "opencl_0_table4"
  bool is_gl() const { return id.rfind("gl:", 0) == 0; }
  bool is_opencl_on_cpu() const { return !is_gpu && id.starts_with("opencl:"); }
};

void PrintTo(const DeviceCase &device, std::ostream *stream);

// Returns every device under test. If none is a GPU and LANECRYPT_TEST_DEVICES is not set, an
// absent "gpu" stands in, so that the report names what was not tested.
std::vector<DeviceCase> devices_under_test();
// Returns GPUs in every form of the kernels, and the emulator in two forms, or in all if every case
// is wanted. OpenCL and OpenGL on a CPU appear only in the form that the device chooses by itself.
std::vector<DeviceCase> devices_in_every_form();
// Returns the devices with emulators in a table form. A long CBC encryption of one stream would
// leave 31 of the 32 threads of the emulator's bitsliced kernels idle.
std::vector<DeviceCase> devices_for_one_stream();
std::string device_case_name(const testing::TestParamInfo<DeviceCase> &info);

// A device under test with one of the RSA arithmetics that it has.
struct RsaCase {
  DeviceCase device;
  const char *form;
};
void PrintTo(const RsaCase &one, std::ostream *stream);
std::vector<RsaCase> rsa_cases();
std::string rsa_case_name(const testing::TestParamInfo<RsaCase> &info);

// Sets an environment variable, and restores the old value in its destructor.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const char *name, const char *value);  // nullptr unsets it
  ~ScopedEnvironment();
  ScopedEnvironment(const ScopedEnvironment &) = delete;

 private:
  std::string name_, old_;
  bool was_set_;
};

class Context {
 public:
  Context() = default;
  explicit Context(const lc_options &options);
  // `devices` is as in lc_options.
  Context(const char *devices, lc_fallback fallback, uint64_t pinned_bytes = 0);
  ~Context() { close(); }
  Context(const Context &) = delete;

  void close() {
    lc_close(context_);
    context_ = nullptr;
  }
  lc_context *get() const { return context_; }
  lc_counters counters(uint32_t index) const;
  lc_device_info device(uint32_t index) const;

 private:
  lc_context *context_ = nullptr;
};

// The fixture's context has only the device of the parameter, as device 0, and no fallback. All
// tests of a device and form share one context.
class DeviceTest : public testing::TestWithParam<DeviceCase> {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Whether the test may process hundreds of MiB: on a GPU, at full scale.
  bool is_thorough() const;
  // Whether only some of many similar cases run. This is so for OpenCL on a CPU, where a launch
  // takes milliseconds. The emulator, which has the same kernels, runs more of them, and a GPU all.
  bool is_quick() const;
  lc_context *context() { return context_->get(); }
  // Whether the device has kernels for `cipher`. If not, run_and_check() checks that the device
  // says so.
  bool offers(lc_cipher cipher) const;
  // Returns a random shape that the device offers.
  BatchShape random_shape(Random &random, uint64_t most_messages, uint64_t most_bytes) const;
  // Runs a job that must succeed on the device, and counts it.
  void run(const lc_cipher_job &job);
  // Runs a batch, and checks every byte that it could have changed.
  void run_and_check(Batch &batch);
  // Adds a job that was started in another way to the counter values that TearDown expects.
  void expect_done(const lc_cipher_job &job);
  void expect_done(uint64_t jobs, uint64_t bytes);

 private:
  std::unique_ptr<ScopedEnvironment> form_;
  Context *context_ = nullptr;
  lc_counters before_ = {};
  uint64_t jobs_ = 0, bytes_ = 0;
};

#define LANECRYPT_ASSERT_OK(expression) \
  ASSERT_EQ(LC_OK, (expression)) << "it says: " << lc_last_error()

}  // namespace lanecrypt::test
