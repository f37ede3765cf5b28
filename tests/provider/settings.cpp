// The settings of openssl.cnf, and what the provider says of wrong ones.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "provider/provider_under_test.h"

namespace provider_test {
namespace {

const uint8_t kKey[32] = {1}, kIv[16] = {2};

// Encrypts `bytes` with the cipher of ours; the result of the call.
int encrypt(Library &library, const char *name, size_t bytes) {
  EVP_CIPHER_CTX *context = O(EVP_CIPHER_CTX_new)();
  Bytes in(bytes), out(bytes + 16);
  int out_bytes = 0;
  int result = O(EVP_CipherInit_ex2)(context, library.cipher(name, "gpu"), kKey, kIv, 1, nullptr);
  if (result == 1)
    result = O(EVP_CipherUpdate)(context, out.data(), &out_bytes, in.data(), int(bytes));
  O(EVP_CIPHER_CTX_free)(context);
  return result;
}

std::string read_file(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct Wrong {
  const char *name, *value, *says;
};
class WrongSettings : public testing::TestWithParam<Wrong> {};

TEST_P(WrongSettings, KeepTheProviderOutAndSaySo) {
  Library library(Settings{{GetParam().name, GetParam().value}});
  EXPECT_FALSE(library.is_ready());
  EXPECT_NE(library.errors().find(GetParam().says), std::string::npos) << library.errors();
  EXPECT_NE(library.errors().find("provider gpu"), std::string::npos) << library.errors();
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongSettings,
    testing::Values(
        Wrong{"threshold_bytes", "many", "threshold_bytes = many is wrong"},
        Wrong{"threshold_bytes", "-1", "must be a number of bytes"},
        Wrong{"threshold_bytes", "1MB", "threshold_bytes = 1MB is wrong"},
        Wrong{"threshold_bytes", "99999999999999999999", "is wrong"},
        Wrong{"threshold_bytes", "99999999999G", "is wrong"},
        Wrong{"require_gpu", "maybe", "require_gpu = maybe is wrong: it must be yes or no"},
        Wrong{"verify", "yes", "verify = yes is wrong: it must be off, sampled or full"},
        Wrong{"prefer", "fast", "prefer = fast is wrong: it must be speed or offload"},
        Wrong{"stats_file", "stats.json", "must be an absolute path"},
        Wrong{"devices", "host,,host", "host,,host"}));

// Where nothing was measured, the usual size decides; a threshold always does.
TEST(Settings, PreferNeedsMeasurements) {
  char folder[] = "/tmp/lanecrypt-prefer-XXXXXX";
  ASSERT_NE(nullptr, mkdtemp(folder));
  const std::string before = getenv("XDG_CACHE_HOME") == nullptr ? "" : getenv("XDG_CACHE_HOME");
  setenv("XDG_CACHE_HOME", folder, 1);
  for (const char *prefer : {"speed", "offload"}) {
    Library library({{"devices", "host"}, {"prefer", prefer}});
    ASSERT_TRUE(library.is_ready()) << library.errors();
    EXPECT_EQ(encrypt(library, "AES-128-CTR", 100000), 1);
    EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
    EXPECT_EQ(encrypt(library, "AES-128-CTR", 1 << 20), 1);
    EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 1u);
    Library forced({{"devices", "host"}, {"prefer", prefer}, {"threshold_bytes", "2k"}});
    ASSERT_TRUE(forced.is_ready()) << forced.errors();
    EXPECT_EQ(encrypt(forced, "AES-128-CTR", 2048), 1);
    EXPECT_EQ(forced.counter("lanecrypt.device-jobs"), 1u);
  }
  before.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", before.c_str(), 1);
  std::filesystem::remove_all(folder);
}

TEST(Settings, ThresholdDecides) {
  Library library({{"devices", "host"}, {"threshold_bytes", "2k"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  EXPECT_EQ(encrypt(library, "AES-128-CTR", 2047), 1);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
  EXPECT_EQ(library.counter("lanecrypt.cpu-jobs"), 1u);
  EXPECT_EQ(library.counter("lanecrypt.cpu-bytes"), 2047u);
  // Nothing has looked for a device so far.
  EXPECT_EQ(library.text_param("lanecrypt.devices"), "[]");
  EXPECT_EQ(encrypt(library, "AES-128-CTR", 2048), 1);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 1u);
  EXPECT_EQ(library.counter("lanecrypt.device-bytes"), 2048u);
  const std::string devices = library.text_param("lanecrypt.devices");
  EXPECT_NE(devices.find("\"id\": \"host:0\""), std::string::npos) << devices;
  EXPECT_NE(devices.find("\"bytes\": 2048"), std::string::npos) << devices;
}

TEST(Settings, CbcEncryptionStaysOnTheCpu) {
  Library library({{"devices", "host"}, {"threshold_bytes", "16"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  EXPECT_EQ(encrypt(library, "AES-256-CBC", 4096), 1);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
}

TEST(Settings, RequireGpuRefusesTheCpu) {
  Library library({{"devices", "none"}, {"threshold_bytes", "64"}, {"require_gpu", "yes"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  EXPECT_EQ(encrypt(library, "AES-128-ECB", 48), 1);
  for (const char *cipher : {"AES-128-ECB", "AES-192-CBC", "AES-256-CTR"}) {
    EXPECT_EQ(encrypt(library, cipher, 64), 0);
    const std::string errors = take_error_texts();
    EXPECT_NE(errors.find("require_gpu is set, and this request cannot run on a device"),
              std::string::npos)
        << errors;
  }
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
  EXPECT_EQ(library.counter("lanecrypt.failures"), 3u);
}

TEST(Settings, WithoutTheDefaultProvider) {
  Library library({{"devices", "host"}, {"threshold_bytes", "64"}}, false);
  ASSERT_TRUE(library.is_ready()) << library.errors();
  EXPECT_EQ(encrypt(library, "AES-128-CTR", 15), 1) << take_error_texts();
  EXPECT_EQ(encrypt(library, "AES-128-CTR", 150), 1) << take_error_texts();
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 1u);
}

TEST(Settings, StatsFileTellsWhatWasDone) {
  const std::string path = testing::TempDir() + "/provider_stats." + std::to_string(getpid());
  unlink(path.c_str());
  {
    Library library({{"devices", "host"}, {"threshold_bytes", "64"}, {"stats_file", path}});
    ASSERT_TRUE(library.is_ready()) << library.errors();
    EXPECT_EQ(encrypt(library, "AES-128-CTR", 640), 1);
    EXPECT_EQ(encrypt(library, "AES-128-CTR", 63), 1);
  }
  const std::string line = read_file(path);
  unlink(path.c_str());
  EXPECT_NE(
      line.find("\"device_jobs\": 1, \"device_bytes\": 640, \"cpu_jobs\": 1, "
                "\"cpu_bytes\": 63, \"failures\": 0, \"rsa_device_keys\": 0, \"rsa_cpu_keys\": 0, "
                "\"rsa_device_jobs\": 0, "
                "\"rsa_cpu_jobs\": 0, \"rsa_failures\": 0, \"devices\": [{\"id\": \"host:0\""),
      std::string::npos)
      << line;
  EXPECT_EQ(line.back(), '\n');
}

// A child of fork works, with devices of its own, and tells what it did alone.
TEST(Settings, ForkStartsAfresh) {
  const std::string path = testing::TempDir() + "/provider_fork." + std::to_string(getpid());
  unlink(path.c_str());
  {
    Library library({{"devices", "host"}, {"threshold_bytes", "64"}, {"stats_file", path}});
    ASSERT_TRUE(library.is_ready()) << library.errors();
    EXPECT_EQ(encrypt(library, "AES-128-CTR", 640), 1);
    const pid_t child = fork();
    if (child == 0) {
      const bool right = encrypt(library, "AES-128-CTR", 6400) == 1 &&
                         library.counter("lanecrypt.device-jobs") == 1 &&
                         library.counter("lanecrypt.device-bytes") == 6400;
      _exit(right ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(library.counter("lanecrypt.device-bytes"), 640u);
  }
  unlink(path.c_str());
}

}  // namespace
}  // namespace provider_test
