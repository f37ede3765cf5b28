// Tests devices that fail. The caller gets OpenSSL's result or, if the CPU is not allowed, an error
// with the reason.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include "provider/rsa/rsa_twins.h"
#include "provider/system_log.h"

namespace provider_test {
namespace {

const uint8_t kKey[32] = {3, 1, 4}, kIv[16] = {1, 5, 9};

// The emulator fails as its environment variable says (src/device/host/host_device.cpp).
class Faults : public testing::Test {
 protected:
  static void fail(const char *how) { setenv("LANECRYPT_HOST_FAULT", how, 1); }
  void SetUp() override { take_system_log(); }
  void TearDown() override {
    unsetenv("LANECRYPT_HOST_FAULT");
    unsetenv("LANECRYPT_HOST_DEVICES");
    unsetenv("LANECRYPT_HOST_KERNELS");
  }
};

int encrypt(Library &library, Bytes *data) {
  EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
  int bytes = 0;
  EXPECT_EQ(
      O(EVP_CipherInit_ex2)(context, library.cipher("AES-128-CTR", "gpu"), kKey, kIv, 1, nullptr),
      1);
  const int result =
      O(EVP_CipherUpdate)(context, data->data(), &bytes, data->data(), int(data->size()));
  O(EVP_CIPHER_CTX_free)(context);
  return result;
}

std::string sign(Library &library, const KeyTwins &key, uint8_t text) {
  return compare(key, [&](EVP_PKEY *pkey, const char *properties, Outcome &outcome) {
    const PkeyContext context = context_for(library, pkey, properties);
    const Bytes in(40, text);
    outcome.out.assign(key.bytes, 0);
    size_t bytes = key.bytes;
    const int result = O(EVP_PKEY_sign_init)(context.get());
    return result == 1
               ? O(EVP_PKEY_sign)(context.get(), outcome.out.data(), &bytes, in.data(), in.size())
               : result;
  });
}

TEST_F(Faults, ALostDeviceIsNotNoticed) {
  for (const char *cipher : {"AES-128-ECB", "AES-192-CBC", "AES-256-CTR"})
    for (Twins::Aliasing aliasing : {Twins::Aliasing::kApart, Twins::Aliasing::kInPlace})
      for (const char *when : {"lost-after:0", "lost-after:1", "lost-after:3"}) {
        fail(when);
        Library library({{"devices", "host"}, {"threshold_bytes", "1k"}});
        ASSERT_TRUE(library.is_ready()) << library.errors();
        Twins twins(library, cipher);
        twins.init(kKey, kIv, 0);
        twins.set_padding(0);
        for (int call = 0; call < 6; ++call) {
          twins.update(Bytes(size_t(8192 + 16 * call), uint8_t(call)), aliasing, 3);
          twins.read_parameters();
        }
        twins.finish();
        EXPECT_TRUE(twins.is_whole()) << cipher << ", " << when << ": " << twins.difference();
        EXPECT_EQ(library.counter("lanecrypt.failures"), 1u) << cipher << ", " << when;
        // The device gets no requests after it was lost.
        EXPECT_GE(library.counter("lanecrypt.cpu-jobs"), 2u);
        EXPECT_NE(library.text_param("lanecrypt.devices").find("lost"), std::string::npos)
            << library.text_param("lanecrypt.devices");
      }
}

TEST_F(Faults, ALostDeviceIsAnErrorWhereOneIsRequired) {
  fail("lost-after:6");
  Library library({{"devices", "host"}, {"threshold_bytes", "1k"}, {"require_gpu", "yes"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
  Bytes data(4096);
  int bytes = 0;
  std::string results;
  ASSERT_EQ(
      O(EVP_CipherInit_ex2)(context, library.cipher("AES-128-CTR", "gpu"), kKey, kIv, 1, nullptr),
      1);
  for (int call = 0; call < 20; ++call)
    results += std::to_string(
        O(EVP_CipherUpdate)(context, data.data(), &bytes, data.data(), int(data.size())));
  O(EVP_CIPHER_CTX_free)(context);
  // Some requests, a few kernels each, succeed before the loss, and none after it.
  EXPECT_TRUE(results.starts_with("1") && results.ends_with("0")) << results;
  EXPECT_EQ(results.find("01"), std::string::npos) << results;
  const std::string errors = take_error_texts();
  EXPECT_NE(errors.find("require_gpu is set, and this request cannot run on a device"),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find("lost"), std::string::npos) << errors;
}

TEST_F(Faults, ADeviceThatFailsItsSelfTestIsNotUsed) {
  fail("wrong-byte:0");
  Library library({{"devices", "host"}, {"threshold_bytes", "1k"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  Twins twins(library, "AES-256-CTR");
  twins.init(kKey, kIv, 1);
  for (int call = 0; call < 3; ++call) twins.update(Bytes(5000), Twins::Aliasing::kInPlace, 0);
  EXPECT_TRUE(twins.is_whole()) << twins.difference();
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
  EXPECT_EQ(library.counter("lanecrypt.cpu-bytes"), 15000u);
  const std::string devices = library.text_param("lanecrypt.devices");
  EXPECT_NE(devices.find("\"reason\": \""), std::string::npos) << devices;
  EXPECT_EQ(1u, take_system_log().size());
}

// RSA continues on the CPU, and no signature is wrong.
TEST_F(Faults, RsaGoesOnWithoutTheDevice) {
  for (const char *how : {"lost-after:0", "lost-after:7", "lost-after:30", "lost-upload:6",
                          "lost-download:3", "fail-launch:4", "wrong-byte:0", "wrong-byte:20"}) {
    fail(how);
    Library library({{"devices", "host"}, {"rsa", "always"}});
    ASSERT_TRUE(library.is_ready()) << library.errors();
    const KeyTwins key = make_key_twins(library, "RSA", 1024);
    for (int n = 0; n < 30; ++n) EXPECT_EQ("", sign(library, key, uint8_t(n))) << how << " " << n;
    EXPECT_EQ(30u, rsa_jobs(library)) << how;
    EXPECT_GT(library.counter("lanecrypt.rsa-cpu-jobs"), 0u) << how;
    const std::string devices = library.text_param("lanecrypt.devices");
    EXPECT_NE(devices.find("\"reason\": \"host:0: RSA: "), std::string::npos) << devices;
    EXPECT_GT(library.counter("lanecrypt.rsa-failures"), 0u) << how;
    // If a result fails its check on the device, the device stays in service.
    const auto log = take_system_log();
    ASSERT_EQ(1u, log.size()) << how;
    EXPECT_NE(log[0].find("lanecrypt: out of service: host:0: RSA: "), std::string::npos) << log[0];
  }
}

// One of two devices fails, and then the other. Each is counted and reported once, whether a device
// or the CPU takes over, and whether or not the CPU may.
TEST_F(Faults, EachLostDeviceIsToldOfOnce) {
  setenv("LANECRYPT_HOST_DEVICES", "2", 1);
  for (const char *must : {"no", "yes"}) {
    fail("lost-after:12");
    Library library({{"devices", "host"}, {"threshold_bytes", "1k"}, {"require_gpu", must}});
    ASSERT_TRUE(library.is_ready()) << library.errors();
    const auto is_lost = [&](const char *id) {
      const std::string devices = library.text_param("lanecrypt.devices");
      const size_t at = devices.find(id);
      return at != std::string::npos && devices.find("\"reason\": \"", at) < devices.find('}', at);
    };
    Bytes data(4096);
    for (const int lost : {1, 2}) {
      std::vector<std::string> log;
      for (int call = 0; call < 100 && log.empty(); ++call) {
        // If the CPU may not take over, the failure of the last device is an error.
        const bool may_fail = lost == 2 && std::string(must) == "yes";
        EXPECT_TRUE(encrypt(library, &data) == 1 || may_fail);
        log = take_system_log();
      }
      ASSERT_EQ(1u, log.size()) << "require_gpu = " << must << ", " << lost;
      const std::string id = lost == 1 ? "host:0" : "host:1";
      EXPECT_NE(log[0].find("lanecrypt: out of service: " + id + ": "), std::string::npos)
          << log[0];
      EXPECT_EQ(library.counter("lanecrypt.failures"), unsigned(lost)) << "require_gpu = " << must;
      EXPECT_TRUE(is_lost(id.c_str())) << library.text_param("lanecrypt.devices");
      EXPECT_EQ(lost == 2, is_lost("host:1"));
    }
    for (int call = 0; call < 3; ++call) encrypt(library, &data);
    EXPECT_EQ(0u, take_system_log().size()) << "told again";
    take_errors();
  }
}

TEST_F(Faults, EachDeviceLostToRsaIsToldOfOnce) {
  setenv("LANECRYPT_HOST_DEVICES", "2", 1);
  fail("lost-after:40");
  Library library({{"devices", "host"}, {"rsa", "always"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  const KeyTwins key = make_key_twins(library, "RSA", 1024);
  for (const char *id : {"host:0", "host:1"}) {
    std::vector<std::string> log;
    for (int n = 0; n < 60 && log.empty(); ++n) {
      EXPECT_EQ("", sign(library, key, uint8_t(n)));
      log = take_system_log();
    }
    ASSERT_EQ(1u, log.size()) << id;
    EXPECT_NE(log[0].find(id + std::string(": RSA: ")), std::string::npos) << log[0];
    EXPECT_EQ(library.counter("lanecrypt.rsa-failures"), id[5] - '0' + 1u);
    // The other device took over.
    EXPECT_EQ(library.counter("lanecrypt.rsa-cpu-jobs"), id[5] == '0' ? 0u : 1u);
  }
  for (int n = 0; n < 3; ++n) EXPECT_EQ("", sign(library, key, uint8_t(n)));
  EXPECT_EQ(0u, take_system_log().size()) << "told again";
}

// A request for an algorithm that a device does not offer is no failure, and nothing is reported.
void expect_no_failure_of_what_it_lacks(const char *device) {
  Library library({{"devices", device}, {"threshold_bytes", "64"}, {"rsa", "always"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  Bytes data(4096);
  EXPECT_EQ(encrypt(library, &data), 1);
  if (library.text_param("lanecrypt.devices").find(device) == std::string::npos)
    GTEST_SKIP() << "there is no " << device;
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 1u);
  for (int n = 0; n < 3; ++n) {
    Twins twins(library, "AES-128-GCM");
    twins.init(kKey, kIv, 1);
    twins.update(Bytes(5000, uint8_t(n)), Twins::Aliasing::kInPlace, 0);
    twins.finish();
    twins.read_tag(16);
    EXPECT_TRUE(twins.is_whole()) << twins.difference();
  }
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 1u);
  EXPECT_GE(library.counter("lanecrypt.cpu-jobs"), 3u);
  EXPECT_EQ(library.counter("lanecrypt.failures"), 0u);
  const KeyTwins key = make_key_twins(library, "RSA", 1024);
  for (int n = 0; n < 3; ++n) EXPECT_EQ("", sign(library, key, uint8_t(n)));
  EXPECT_EQ(library.counter("lanecrypt.rsa-cpu-jobs"), 3u);
  EXPECT_EQ(library.counter("lanecrypt.rsa-failures"), 0u);
  const std::string devices = library.text_param("lanecrypt.devices");
  EXPECT_NE(devices.find("\"failures\": 0"), std::string::npos) << devices;
  EXPECT_EQ(devices.find("\"reason\": \""), std::string::npos) << devices;
  EXPECT_EQ(0u, take_system_log().size());
}

TEST_F(Faults, WhatADeviceLacksIsNone) {
  // Table-based kernels need more kernels than these.
  const char *const form = getenv("LANECRYPT_AES_FORM");
  const std::string before = form == nullptr ? "" : form;
  unsetenv("LANECRYPT_AES_FORM");
  setenv("LANECRYPT_HOST_KERNELS", "aes_", 1);
  expect_no_failure_of_what_it_lacks("host");
  if (form != nullptr) setenv("LANECRYPT_AES_FORM", before.c_str(), 1);
}

TEST_F(Faults, WhatOpenGlLacksIsNone) { expect_no_failure_of_what_it_lacks("gl"); }

// The settings leave the choice of devices to the environment, whose list is invalid. OpenSSL does
// the work, which would go unnoticed, so the system log gets one line. If a device is required, the
// error has the reason.
TEST_F(Faults, AWrongListInTheEnvironmentIsNamed) {
  constexpr char kWrong[] = "the environment variable LANECRYPT_DEVICES = \"toaster\" is wrong";
  const std::string before = getenv("LANECRYPT_DEVICES");
  setenv("LANECRYPT_DEVICES", "toaster", 1);
  for (const char *must : {"no", "yes"}) {
    Library library({{"threshold_bytes", "1k"}, {"require_gpu", must}});
    ASSERT_TRUE(library.is_ready()) << library.errors();
    const bool is_required = std::string(must) == "yes";
    const KeyTwins key = make_key_twins(library, "RSA", 1024);
    take_errors();
    Bytes data(4096);
    for (int n = 0; n < 3; ++n) {
      EXPECT_EQ(encrypt(library, &data), is_required ? 0 : 1);
      const std::string errors = take_error_texts();
      EXPECT_EQ(errors.find(kWrong) != std::string::npos, is_required) << errors;
    }
    const PkeyContext context = context_for(library, key.sides[1].get(), kProperties[1]);
    Bytes in(20), out(key.bytes);
    size_t bytes = out.size();
    EXPECT_EQ(1, O(EVP_PKEY_sign_init)(context.get()));
    EXPECT_EQ(is_required ? 0 : 1,
              O(EVP_PKEY_sign)(context.get(), out.data(), &bytes, in.data(), in.size()));
    const std::string errors = take_error_texts();
    EXPECT_EQ(errors.find(kWrong) != std::string::npos, is_required) << errors;
    const auto log = take_system_log();
    ASSERT_EQ(1u, log.size());
    EXPECT_NE(log[0].find(std::string("lanecrypt: no device is used: ") + kWrong),
              std::string::npos)
        << log[0];
  }
  setenv("LANECRYPT_DEVICES", before.c_str(), 1);
}

TEST_F(Faults, RsaIsAnErrorWhereADeviceIsRequired) {
  Library library({{"devices", "none"}, {"require_gpu", "yes"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  const KeyTwins key = make_key_twins(library, "RSA", 1024);
  const PkeyContext context = context_for(library, key.sides[1].get(), kProperties[1]);
  Bytes in(20), out(key.bytes);
  size_t bytes = out.size();
  take_errors();
  EXPECT_EQ(1, O(EVP_PKEY_sign_init)(context.get()));
  EXPECT_EQ(0, O(EVP_PKEY_sign)(context.get(), out.data(), &bytes, in.data(), in.size()));
  const std::string errors = take_error_texts();
  EXPECT_NE(errors.find("require_gpu is set, and this request cannot run on a device"),
            std::string::npos)
      << errors;
  EXPECT_EQ(1u, library.counter("lanecrypt.rsa-failures"));
}

}  // namespace
}  // namespace provider_test
