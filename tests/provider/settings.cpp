// Tests the settings in openssl.cnf, and the errors for invalid ones.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/rand.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "provider/measured_card.h"
#include "provider/provider_under_test.h"

namespace provider_test {
namespace {

const uint8_t kKey[32] = {1}, kIv[16] = {2};

// encrypt() encrypts `bytes` with our cipher. It returns the result of the call.
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

// Stream is one stream of zeros.
class Stream {
 public:
  Stream(Library &library, const char *name, size_t most)
      : context_(O(EVP_CIPHER_CTX_new)()), in_(most), out_(most + 16) {
    O(EVP_CipherInit_ex2)(context_, library.cipher(name, "gpu"), kKey, kIv, 1, nullptr);
  }
  ~Stream() { O(EVP_CIPHER_CTX_free)(context_); }
  Stream(const Stream &) = delete;
  void update(size_t bytes) {
    int out_bytes = 0;
    ASSERT_EQ(O(EVP_CipherUpdate)(context_, out_.data(), &out_bytes, in_.data(), int(bytes)), 1);
  }

 private:
  EVP_CIPHER_CTX *const context_;
  const Bytes in_;
  Bytes out_;
};

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
        Wrong{"service", "run/socket", "must be auto, require, off or an absolute path"},
        Wrong{"service_owner", "", "must be a user's name or number"},
        Wrong{"in_process", "perhaps", "in_process = perhaps is wrong: it must be yes or no"},
        Wrong{"cores", "0", "cores = 0 is wrong: it must be a number of cores, from 1 to 1024"},
        Wrong{"cores", "1025", "cores = 1025 is wrong"},
        Wrong{"rsa", "sometimes", "rsa = sometimes is wrong: it must be auto, always or off"},
        Wrong{"verify", "yes", "verify = yes is wrong: it must be off, sampled or full"},
        Wrong{"prefer", "fast", "prefer = fast is wrong: it must be speed or offload"},
        Wrong{"prime_pool", "65537", "prime_pool = 65537 is wrong: it must be a number of primes"},
        Wrong{"prime_pool", "some", "prime_pool = some is wrong"},
        Wrong{"pinned_bytes", "some", "pinned_bytes = some is wrong"},
        Wrong{"stats_file", "stats.json", "must be an absolute path"},
        Wrong{"devices", "host,,host",
              "the setting devices = \"host,,host\" is wrong: it must be"}));

TEST(SizeSettings, PinnedBytes) {
  Library library({{"devices", "host"}, {"threshold_bytes", "1k"}, {"pinned_bytes", "64M"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  EXPECT_EQ(encrypt(library, "AES-128-CTR", 1 << 20), 1);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 1u);
}

using Prefer = MeasuredCard;

// The default is speed. A program that does little touches no device, whatever the device is.
TEST_F(Prefer, LittleLooksForNoDevice) {
  store_quick_card();
  for (const Settings &settings :
       {Settings{}, Settings{{"prefer", "speed"}}, Settings{{"prefer", "offload"}}}) {
    Settings with_device = settings;
    with_device.emplace_back("devices", "host");
    Library library(with_device);
    ASSERT_TRUE(library.is_ready()) << library.errors();
    for (const size_t bytes : {size_t{1000}, size_t{100000}, size_t{64} << 20})
      EXPECT_EQ(encrypt(library, "AES-128-CTR", bytes), 1);
    EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
    EXPECT_EQ(library.counter("lanecrypt.cpu-jobs"), 3u);
    EXPECT_EQ(library.text_param("lanecrypt.devices"), "[]");
  }
}

// A program that does much of one kind gets the device that was measured to be faster for that. It
// gets none for kinds that were not measured or texts that are too short.
TEST_F(Prefer, MuchGoesWhereItIsSooner) {
  store_quick_card();
  Library library(Settings{{"devices", "host"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  constexpr size_t kBytes = 4 << 20;
  constexpr int kMost = 20000;
  Stream stream(library, "AES-128-CTR", kBytes);
  // After a GiB the device is opened.
  int n = 0;
  for (; n < kMost && library.counter("lanecrypt.device-jobs") == 0; ++n) stream.update(kBytes);
  EXPECT_GE(n, 256);
  ASSERT_LT(n, kMost);
  const uint64_t before = library.counter("lanecrypt.device-jobs");
  EXPECT_EQ(encrypt(library, "AES-256-CTR", kBytes), 1);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), before + 1);
  EXPECT_EQ(encrypt(library, "AES-128-CTR", 300000), 1);
  EXPECT_EQ(encrypt(library, "AES-128-ECB", kBytes), 1);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), before + 1);
}

// A threshold or require_gpu overrides the measurements.
TEST_F(Prefer, IsOverridden) {
  Library forced({{"devices", "host"}, {"prefer", "speed"}, {"threshold_bytes", "2k"}});
  ASSERT_TRUE(forced.is_ready()) << forced.errors();
  EXPECT_EQ(encrypt(forced, "AES-128-CTR", 2048), 1);
  EXPECT_EQ(forced.counter("lanecrypt.device-jobs"), 1u);
  Library required({{"devices", "host"}, {"prefer", "offload"}, {"require_gpu", "yes"}});
  ASSERT_TRUE(required.is_ready()) << required.errors();
  EXPECT_EQ(encrypt(required, "AES-128-CTR", (1 << 20) - 1), 1);
  EXPECT_EQ(required.counter("lanecrypt.device-jobs"), 0u);
  EXPECT_EQ(encrypt(required, "AES-128-CTR", 1 << 20), 1);
  EXPECT_EQ(required.counter("lanecrypt.device-jobs"), 1u);
}

TEST(Settings, ThresholdDecides) {
  Library library({{"devices", "host"}, {"threshold_bytes", "2k"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  EXPECT_EQ(encrypt(library, "AES-128-CTR", 2047), 1);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
  EXPECT_EQ(library.counter("lanecrypt.cpu-jobs"), 1u);
  EXPECT_EQ(library.counter("lanecrypt.cpu-bytes"), 2047u);
  // No device was enumerated so far.
  EXPECT_EQ(library.text_param("lanecrypt.devices"), "[]");
  EXPECT_EQ(encrypt(library, "AES-128-CTR", 2048), 1);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 1u);
  EXPECT_EQ(library.counter("lanecrypt.device-bytes"), 2048u);
  const std::string devices = library.text_param("lanecrypt.devices");
  EXPECT_NE(devices.find("\"id\": \"host:0\""), std::string::npos) << devices;
  EXPECT_NE(devices.find("\"bytes\": 2048"), std::string::npos) << devices;
}

// Settings of keystream-ahead, which no longer exists, are ignored for one release, whatever their
// values. Its counters can be read, and are 0.
TEST(Settings, KeystreamAheadIsIgnored) {
  Library library({{"devices", "host"},
                   {"threshold_bytes", "2k"},
                   {"keystream", "always"},
                   {"keystream_after", "1"},
                   {"keystream_memory", "1T"}});
  ASSERT_TRUE(library.is_ready()) << library.errors();
  Stream stream(library, "AES-128-CTR", 2048);
  for (int n = 0; n < 100; ++n) stream.update(1000);
  EXPECT_EQ(library.counter("lanecrypt.device-jobs"), 0u);
  EXPECT_EQ(library.counter("lanecrypt.cpu-bytes"), 100000u);
  stream.update(2048);
  EXPECT_EQ(library.counter("lanecrypt.device-bytes"), 2048u);
  EXPECT_EQ(library.counter("lanecrypt.keystream-bytes"), 0u);
  EXPECT_EQ(library.counter("lanecrypt.keystream-wasted-bytes"), 0u);
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
                "\"cpu_bytes\": 63, \"cores_bytes\": 0, \"failures\": 0, "
                "\"rsa_device_keys\": 0, \"rsa_cpu_keys\": 0, "
                "\"rsa_device_jobs\": 0, \"rsa_service_jobs\": 0, "
                "\"rsa_cpu_jobs\": 0, \"rsa_failures\": 0, "
                "\"ml_dsa_device_jobs\": 0, \"ml_dsa_service_jobs\": 0, "
                "\"ml_dsa_cpu_jobs\": 0, \"ml_dsa_failures\": 0, "
                "\"slh_dsa_device_keys\": 0, \"slh_dsa_cpu_keys\": 0, \"slh_dsa_device_jobs\": 0, "
                "\"slh_dsa_service_jobs\": 0, \"slh_dsa_cpu_jobs\": 0, \"slh_dsa_failures\": 0, "
                "\"devices\": [{\"id\": \"host:0\""),
      std::string::npos)
      << line;
  EXPECT_EQ(line.back(), '\n');
}

// A child of fork() opens its own devices, and reports only its own work.
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

// ---- Offered algorithms -----------------------------------------------------------

// ciphers_offered() returns for how many of our ciphers EVP has constructed an EVP_CIPHER after the
// program has drawn random numbers: that fetches AES, and EVP then constructs all ciphers that
// every provider offers.
int ciphers_offered(Library &library) {
  uint8_t drawn[16];
  EXPECT_EQ(O(RAND_bytes_ex)(library.get(), drawn, sizeof drawn, 0), 1);
  int count = 0;
  const auto look = [](EVP_CIPHER *cipher, void *counted) {
    const char *const from = O(OSSL_PROVIDER_get0_name)(O(EVP_CIPHER_get0_provider)(cipher));
    if (std::string(from) == "gpu") ++*static_cast<int *>(counted);
  };
  O(EVP_CIPHER_do_all_provided)(library.get(), look, &count);
  return count;
}

struct Offer {
  Settings settings;
  bool ciphers, rsa;
};

// Each offered algorithm costs time at the start of a program, and gains nothing if only OpenSSL on
// the caller's core can do it.
TEST(Offers, OnlyWhatMayGain) {
  const Offer offers[] = {
      {{{"in_process", "no"}}, false, true},
      {{{"in_process", "no"}, {"cores", "2"}}, true, true},
      {{{"in_process", "no"}, {"cores", "2"}, {"service", "off"}}, true, false},
      {{{"in_process", "no"}, {"service", "off"}}, false, false},
      {{{"in_process", "no"}, {"rsa", "off"}}, false, false},
      {{{"in_process", "no"}, {"service", "/nowhere/socket"}}, false, true},
      {{{"in_process", "yes"}, {"service", "off"}, {"devices", "host"}}, true, true},
      {{{"in_process", "yes"}, {"rsa", "off"}, {"devices", "host"}}, true, false},
  };
  for (const Offer &offer : offers) {
    std::string told;
    for (const auto &[name, value] : offer.settings) told.append(name + "=" + value + " ");
    SCOPED_TRACE(told);
    Library library(offer.settings);
    ASSERT_TRUE(library.is_ready()) << library.errors();
    ASSERT_EQ(O(EVP_set_default_properties)(library.get(), "?provider=gpu"), 1);
    const int ciphers = ciphers_offered(library);
    if (offer.ciphers)
      EXPECT_GE(ciphers, 34);  // without SM4, Camellia and ARIA
    else
      EXPECT_EQ(ciphers, 0);
    EXPECT_EQ(library.cipher("AES-256-CTR", "gpu") != nullptr, offer.ciphers);
    EVP_SIGNATURE *const rsa = O(EVP_SIGNATURE_fetch)(library.get(), "RSA", "provider=gpu");
    EXPECT_EQ(rsa != nullptr, offer.rsa);
    O(EVP_SIGNATURE_free)(rsa);
    take_errors();
    // A program that only prefers our cipher gets OpenSSL's instead.
    EVP_CIPHER *const preferred = O(EVP_CIPHER_fetch)(library.get(), "AES-256-CTR", nullptr);
    ASSERT_NE(preferred, nullptr) << take_error_texts();
    const std::string from = O(OSSL_PROVIDER_get0_name)(O(EVP_CIPHER_get0_provider)(preferred));
    EXPECT_EQ(from, offer.ciphers ? "gpu" : "default");
    O(EVP_CIPHER_free)(preferred);
  }
}

}  // namespace
}  // namespace provider_test
