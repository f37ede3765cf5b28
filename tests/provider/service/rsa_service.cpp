// Tests RSA by a service: which operations go there, which do not, and what happens to those that
// it refuses or loses.
//
// SPDX-License-Identifier: Apache-2.0
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <openssl/rand.h>
#include <sys/prctl.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "provider/service/rsa_by_service.h"

namespace provider_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(RsaByService, Signs) {
  load({{"rsa", "always"}});
  for (int n = 0; n < 20; ++n) EXPECT_TRUE(signs_rightly(n)) << errors;
  EXPECT_EQ(20u, count("service-jobs"));
  EXPECT_EQ(20u, count("device-jobs"));
  EXPECT_EQ(0u, count("cpu-jobs"));
  EXPECT_EQ(0u, count("failures"));
  EXPECT_EQ(1, fake.with_key);
  EXPECT_EQ("[]", library->text_param("lanecrypt.devices"));
}

TEST_F(RsaByService, WithKeysOfManyLengths) {
  load({{"rsa", "always"}});
  for (const unsigned bits : {1024u, 1032u, 1536u, 2048u, 2056u, 3072u}) {
    key = make_key_twins(*library, "RSA", bits);
    for (int n = 0; n < 4; ++n) EXPECT_TRUE(signs_rightly(n)) << bits << errors;
  }
  EXPECT_EQ(24u, count("service-jobs"));
  EXPECT_EQ(6, fake.with_key);
}

// Ciphertexts that OpenSSL decrypts or refuses, and its replacement for a message with wrong
// padding.
TEST_F(RsaByService, DecryptsAsOpenSslDoes) {
  load({{"rsa", "always"}});
  int jobs = 0;
  for (const int padding : {RSA_PKCS1_PADDING, RSA_PKCS1_OAEP_PADDING, RSA_NO_PADDING}) {
    for (int n = 0; n < 6; ++n) {
      const PkeyContext seals = context_for(*library, key.sides[0].get(), kProperties[0]);
      // The last one is usually no valid ciphertext of this padding.
      Bytes text(padding == RSA_NO_PADDING || n == 5 ? key.bytes : 20u + size_t(n), uint8_t(n + 1));
      text[0] = 0;
      Bytes sealed(key.bytes);
      size_t bytes = sealed.size();
      ASSERT_EQ(1, O(EVP_PKEY_encrypt_init)(seals.get()));
      ASSERT_EQ(1, O(EVP_PKEY_CTX_set_rsa_padding)(seals.get(), n == 5 ? RSA_NO_PADDING : padding));
      ASSERT_EQ(1,
                O(EVP_PKEY_encrypt)(seals.get(), sealed.data(), &bytes, text.data(), text.size()));
      const Call open = [&](EVP_PKEY *with, const char *properties, Outcome &outcome) {
        const PkeyContext opens = context_for(*library, with, properties);
        outcome.out.assign(key.bytes, 0);
        size_t length = outcome.out.size();
        int result = O(EVP_PKEY_decrypt_init)(opens.get()) == 1 &&
                     O(EVP_PKEY_CTX_set_rsa_padding)(opens.get(), padding) == 1;
        if (result == 1)
          result = O(EVP_PKEY_decrypt)(opens.get(), outcome.out.data(), &length, sealed.data(),
                                       sealed.size());
        outcome.out_bytes = int(length);
        return result;
      };
      EXPECT_EQ("", compare(key, open)) << padding << " " << n;
      ++jobs;
    }
  }
  EXPECT_EQ(uint64_t(jobs), count("service-jobs"));
}

TEST_F(RsaByService, IsNotAskedForKeysThatItDoesNotTake) {
  load({{"rsa", "always"}});
  const KeyTwins of_three = make_key_twins(*library, "RSA", 1536, 3);
  const KeyTwins is_short = make_key_twins(*library, "RSA", 768);
  EXPECT_FALSE(sign(1, &of_three).empty());
  EXPECT_FALSE(sign(1, &is_short).empty());
  EXPECT_EQ(0, fake.requests);
  EXPECT_EQ(2u, count("cpu-jobs"));
}

// With the default settings, a process that signs little does not even connect.
TEST_F(RsaByService, IsLeftAloneByWhoSignsLittle) {
  for (auto &known : fake.page().rsa_us)
    for (auto &us : known) us = 1'000'000;
  load({});
  for (int n = 1; n < 8; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_EQ(0, fake.sessions);
  for (int n = 0; n < 50; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_EQ(1, fake.sessions);
  EXPECT_EQ(0, fake.requests);
  EXPECT_EQ(57u, count("cpu-jobs"));
}

TEST_F(RsaByService, ServesManyProcesses) {
  fake.page().cores = 1;
  for (auto &known : fake.page().rsa_us)
    for (auto &us : known) us = 1;
  fake.page().operations = 100;
  load({});
  for (int n = 0; n < 40; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_GE(count("service-jobs"), 25u);
  EXPECT_EQ(40u, count("service-jobs") + count("cpu-jobs"));
}

TEST_F(RsaByService, IsOffWhereTheSettingsSaySo) {
  // Without devices of its own, the provider would not offer RSA in this process.
  load({{"in_process", "yes"}, {"devices", "none"}, {"rsa", "always"}, {"service", "off"}});
  for (int n = 0; n < 20; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_EQ(0, fake.sessions);
  EXPECT_EQ(20u, count("cpu-jobs"));
}

// The process's own devices are used, unless the settings name a service.
TEST_F(RsaByService, BesideDevicesOfTheProcess) {
  load({{"in_process", "yes"}, {"devices", "host"}, {"rsa", "always"}, {"service", "auto"}});
  EXPECT_TRUE(signs_rightly());
  EXPECT_EQ(1u, count("device-jobs"));
  EXPECT_EQ(0u, count("service-jobs"));
  EXPECT_EQ(0, fake.sessions);
  key = {};
  load({{"in_process", "yes"}, {"devices", "none"}, {"rsa", "always"}});
  EXPECT_TRUE(signs_rightly());
  EXPECT_EQ(1u, count("service-jobs"));
}

TEST_F(RsaByService, ForgetsKeysAndEndsWithTheProvider) {
  load({{"rsa", "always"}});
  EXPECT_TRUE(signs_rightly());
  key = {};
  for (int n = 0; n < 5000 && fake.forgotten == 0; ++n)
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(1, fake.forgotten);
  library.reset();
  for (int n = 0; n < 5000 && fake.ended == 0; ++n) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(1, fake.ended);
}

// ---- What the service does not do --------------------------------------------------

TEST_F(RsaByService, TheCpuDoesWhatIsRefused) {
  load({{"rsa", "always"}});
  fake.answer = FakeService::Answer::kOutcome;
  for (const wire::Outcome outcome :
       {wire::Outcome::kBusy, wire::Outcome::kNoDevice, wire::Outcome::kBadInput}) {
    fake.outcome = outcome;
    EXPECT_TRUE(signs_rightly());
  }
  EXPECT_EQ(0u, count("failures"));
  fake.outcome = wire::Outcome::kFailed;
  EXPECT_TRUE(signs_rightly());
  EXPECT_EQ(1u, count("failures"));
  EXPECT_EQ(4u, count("cpu-jobs"));
  EXPECT_EQ(0u, count("service-jobs"));
  EXPECT_TRUE(take_system_log().empty());
}

TEST_F(RsaByService, ALossIsToldOnce) {
  load({{"rsa", "always"}});
  EXPECT_TRUE(signs_rightly());
  fake.stop();
  for (int n = 0; n < 20; ++n) EXPECT_TRUE(signs_rightly(n));
  const std::vector<std::string> log = take_system_log();
  ASSERT_EQ(1u, log.size());
  EXPECT_NE(std::string::npos, log[0].find("lanecrypt: the service at " + fake.path()));
  EXPECT_EQ(1u, count("failures"));
  EXPECT_EQ(20u, count("cpu-jobs"));
  // The service starts again.
  fake.start();
  for (int n = 0; n < 200 && count("service-jobs") < 2; ++n) {
    EXPECT_TRUE(signs_rightly(n));
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_EQ(2u, count("service-jobs"));
  EXPECT_TRUE(take_system_log().empty());
}

TEST_F(RsaByService, WrongResultsAreFoundIfAllAreChecked) {
  fake.compute = [](std::span<const uint8_t> input, const std::vector<Bytes> &parts) {
    Bytes output = private_operation(input, parts);
    output.back() ^= 1;
    return output;
  };
  load({{"rsa", "always"}, {"verify", "full"}});
  for (int n = 0; n < 5; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_EQ(5u, count("failures"));
  EXPECT_EQ(5u, count("cpu-jobs"));
  EXPECT_EQ(0u, count("service-jobs"));
  fake.compute = private_operation;
  EXPECT_TRUE(signs_rightly());
  EXPECT_EQ(1u, count("service-jobs"));
}

TEST_F(RsaByService, RightResultsBeyondTheModulusAreWrongToo) {
  fake.compute = [](std::span<const uint8_t> input, const std::vector<Bytes> &) {
    return Bytes(input.size(), 0xFF);
  };
  load({{"rsa", "always"}, {"verify", "full"}});
  EXPECT_TRUE(signs_rightly());
  EXPECT_EQ(1u, count("failures"));
}

TEST_F(RsaByService, RequiredAndNotThereIsAnError) {
  unsetenv("XDG_RUNTIME_DIR");
  if (access("/run/lanecrypt/socket", F_OK) == 0) GTEST_SKIP() << "a service runs here";
  load({{"service", "require"}});
  EXPECT_TRUE(sign().empty());
  EXPECT_NE(std::string::npos, errors.find("service = require is set")) << errors;
  EXPECT_NE(std::string::npos, errors.find("/run/lanecrypt: No such file")) << errors;
  EXPECT_EQ(1u, count("failures"));
  EXPECT_EQ(0u, count("cpu-jobs"));
  EXPECT_EQ(nullptr, generate(1024));
  EXPECT_NE(std::string::npos, errors.find("service = require is set")) << errors;
}

// The default socket of one user's service.
TEST_F(RsaByService, RequiredAndThere) {
  if (access("/run/lanecrypt/socket", F_OK) == 0) GTEST_SKIP() << "a service runs here";
  const lanecrypt::test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() + "/lanecrypt");
  std::filesystem::permissions(folder.path() + "/lanecrypt", std::filesystem::perms(0700));
  ASSERT_EQ(0, rename(fake.path().c_str(), (folder.path() + "/lanecrypt/socket").c_str()));
  setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
  load({{"service", "require"}});
  EXPECT_TRUE(signs_rightly()) << errors;
  EXPECT_EQ(1u, count("service-jobs"));
  const KeyTwins of_three = make_key_twins(*library, "RSA", 1536, 3);
  EXPECT_TRUE(sign(1, &of_three).empty());
  EXPECT_NE(std::string::npos, errors.find("no device takes this RSA key")) << errors;
  fake.answer = FakeService::Answer::kOutcome;
  EXPECT_TRUE(sign().empty());
  EXPECT_NE(std::string::npos, errors.find("no room or no device")) << errors;
  EXPECT_EQ(0u, count("cpu-jobs"));
  unsetenv("XDG_RUNTIME_DIR");
}

// ---- Processes --------------------------------------------------------------------

TEST_F(RsaByService, AChildSignsWithItsParentsKey) {
  load({{"rsa", "always"}});
  EXPECT_TRUE(signs_rightly());
  EXPECT_EQ(0, in_child([&] {
              for (int n = 0; n < 5; ++n)
                if (!signs_rightly(n)) return 1;
              return count("service-jobs") == 5 && count("failures") == 0 ? 0 : 2;
            }));
  EXPECT_TRUE(signs_rightly());
  EXPECT_EQ(2u, count("service-jobs"));
  EXPECT_EQ(2, fake.sessions);
}

// A seccomp filter that forbids nothing, which the provider cannot know.
TEST_F(RsaByService, ASandboxLeavesAllToTheCpu) {
  load({{"rsa", "always"}});
  EXPECT_EQ(0, in_child([&] {
              if (!signs_rightly() || count("service-jobs") != 1) return 1;
              sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
              const sock_fprog program = {1, &all};
              if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
                  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
                return 2;
              for (int n = 0; n < 5; ++n)
                if (!signs_rightly(n)) return 3;
              return count("service-jobs") == 1 && count("cpu-jobs") == 5 ? 0 : 4;
            }));
}

TEST_F(RsaByService, OfManyThreads) {
  load({{"rsa", "always"}});
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 200; ++t)
    threads.emplace_back([&, t] {
      const PkeyContext context = context_for(*library, key.sides[1].get(), kProperties[1]);
      for (int n = 0; n < 5; ++n) {
        const Bytes digest(32, uint8_t(t + n));
        Bytes signature(key.bytes);
        size_t bytes = signature.size();
        right += O(EVP_PKEY_sign_init)(context.get()) == 1 &&
                 O(EVP_PKEY_sign)(context.get(), signature.data(), &bytes, digest.data(), 32) == 1;
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(1000, right);
  EXPECT_EQ(1000u, count("service-jobs"));
  EXPECT_EQ(1, fake.sessions);
}

// ---- Key generation -----------------------------------------------------------------

TEST_F(RsaByService, MakesKeys) {
  load({{"rsa", "always"}});
  const Pkey made = generate(1024);
  ASSERT_NE(nullptr, made) << errors;
  EXPECT_TRUE(is_whole(made));
  EXPECT_EQ(1024, O(EVP_PKEY_get_bits)(made.get()));
  EXPECT_EQ(1, fake.generations);
  EXPECT_EQ(1u, count("device-keys"));
  EXPECT_EQ(0u, count("cpu-keys"));
}

TEST_F(RsaByService, MakesKeysFromTheNinthOn) {
  load({});
  for (int n = 0; n < 10; ++n) EXPECT_NE(nullptr, generate(1024));
  EXPECT_EQ(2, fake.generations);
  EXPECT_EQ(8u, count("cpu-keys"));
}

// With the default settings too. The fake service would take too long to generate one.
TEST_F(RsaByService, IsAskedForLongKeysAtOnce) {
  fake.generate = nullptr;
  load({});
  EXPECT_NE(nullptr, generate(4096));
  EXPECT_EQ(1, fake.generations);
  EXPECT_EQ(1u, count("cpu-keys"));
  EXPECT_EQ(0u, count("failures"));
}

TEST_F(RsaByService, MakesNoKeysWithoutADevice) {
  fake.page().usable_devices = 0;
  load({{"rsa", "always"}});
  EXPECT_NE(nullptr, generate(1024));
  EXPECT_EQ(0, fake.generations);
  EXPECT_EQ(1u, count("cpu-keys"));
  EXPECT_EQ(0u, count("failures"));
}

TEST_F(RsaByService, KeysOfAnotherLengthAreNotTaken) {
  fake.generate = [](uint32_t) { return new_key(1536); };
  load({{"rsa", "always"}});
  const Pkey made = generate(1024);
  ASSERT_NE(nullptr, made) << errors;
  EXPECT_EQ(1024, O(EVP_PKEY_get_bits)(made.get()));
  EXPECT_EQ(1u, count("cpu-keys"));
  EXPECT_EQ(1u, count("failures"));
}

TEST_F(RsaByService, WrongKeysAreFoundIfAllAreChecked) {
  fake.generate = [](uint32_t bits) {
    std::vector<Bytes> parts = new_key(bits);
    parts[wire::kDp].back() ^= 2;
    return parts;
  };
  load({{"rsa", "always"}, {"verify", "full"}});
  const Pkey made = generate(1024);
  ASSERT_NE(nullptr, made) << errors;
  EXPECT_TRUE(is_whole(made));
  EXPECT_EQ(1u, count("cpu-keys"));
  EXPECT_EQ(1u, count("failures"));
}

TEST_F(RsaByService, AKeyIsGivenUpWhereTheProgramSaysSo) {
  fake.delay_ms = 30'000;
  load({{"rsa", "always"}});
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(nullptr, generate(1024, [](EVP_PKEY_CTX *) { return 0; }));
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(5)) << "as if it were silent";
  for (int n = 0; n < 5000 && fake.closed_channels == 0; ++n)
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(1, fake.closed_channels);
}

// The service would draw from a generator that the program did not choose.
TEST_F(RsaByService, AProgramWithItsOwnGeneratorMakesItsKeys) {
  load({{"rsa", "always"}});
  key = {};
  Library other({{"in_process", "no"}, {"service", fake.path()}, {"rsa", "always"}});
  ASSERT_EQ(1, O(RAND_set_DRBG_type)(other.get(), "HASH-DRBG", nullptr, nullptr, "SHA256"));
  const PkeyContext context(O(EVP_PKEY_CTX_new_from_name)(other.get(), "RSA", kProperties[1]));
  EVP_PKEY *made = nullptr;
  ASSERT_EQ(1, O(EVP_PKEY_keygen_init)(context.get()));
  ASSERT_EQ(1, O(EVP_PKEY_CTX_set_rsa_keygen_bits)(context.get(), 1024));
  EXPECT_EQ(1, O(EVP_PKEY_generate)(context.get(), &made)) << take_error_texts();
  O(EVP_PKEY_free)(made);
  EXPECT_EQ(0, fake.generations);
  EXPECT_EQ(1u, other.counter("lanecrypt.rsa-cpu-keys"));
}

}  // namespace
}  // namespace provider_test
