// RSA by a service: here by one of the tests' own, which computes with the key that it was
// given. tests/e2e/service/test_service_provider.py has the real one.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <openssl/async.h>
#include <openssl/bn.h>
#include <openssl/rand.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

#include "provider/rsa/rsa_twins.h"
#include "provider/system_log.h"
#include "service/client/fake_service.h"
#include "test_scale.h"

namespace provider_test {
namespace {

using service_test::FakeService;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Service = lanecrypt::service::StatusPage;
namespace wire = lanecrypt::service;

// ---- The service's arithmetic ---------------------------------------------------

struct FreeNumber {
  void operator()(BIGNUM *number) const { O(BN_free)(number); }
};
using Number = std::unique_ptr<BIGNUM, FreeNumber>;

Number number(std::span<const uint8_t> bytes) {
  return Number(O(BN_bin2bn)(bytes.data(), int(bytes.size()), nullptr));
}

// By the Chinese remainder theorem, so that each part must be right.
Bytes private_operation(std::span<const uint8_t> input, const std::vector<Bytes> &key) {
  BN_CTX *const context = O(BN_CTX_new)();
  const Number c = number(input), p = number(key[wire::kP]), q = number(key[wire::kQ]);
  const Number dp = number(key[wire::kDp]), dq = number(key[wire::kDq]);
  const Number qinv = number(key[wire::kQinv]), m1(O(BN_new)()), m2(O(BN_new)());
  O(BN_mod_exp)(m1.get(), c.get(), dp.get(), p.get(), context);
  O(BN_mod_exp)(m2.get(), c.get(), dq.get(), q.get(), context);
  O(BN_mod_sub)(m1.get(), m1.get(), m2.get(), p.get(), context);
  O(BN_mod_mul)(m1.get(), m1.get(), qinv.get(), p.get(), context);
  O(BN_mul)(m1.get(), m1.get(), q.get(), context);
  O(BN_add)(m1.get(), m1.get(), m2.get());
  Bytes output(input.size());
  O(BN_bn2binpad)(m1.get(), output.data(), int(output.size()));
  O(BN_CTX_free)(context);
  return output;
}

Bytes part_of(EVP_PKEY *key, const char *name) {
  BIGNUM *number = nullptr;
  if (!O(EVP_PKEY_get_bn_param)(key, name, &number)) return {};
  Bytes bytes(size_t(O(BN_num_bits)(number) + 7) / 8);
  O(BN_bn2binpad)(number, bytes.data(), int(bytes.size()));
  O(BN_free)(number);
  return bytes;
}

std::vector<Bytes> new_key(uint32_t bits) {
  EVP_PKEY *const key = O(EVP_PKEY_Q_keygen)(nullptr, nullptr, "RSA", size_t(bits));
  std::vector<Bytes> parts;
  for (const char *name :
       {OSSL_PKEY_PARAM_RSA_N, OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_RSA_FACTOR1,
        OSSL_PKEY_PARAM_RSA_FACTOR2, OSSL_PKEY_PARAM_RSA_EXPONENT1, OSSL_PKEY_PARAM_RSA_EXPONENT2,
        OSSL_PKEY_PARAM_RSA_COEFFICIENT1, OSSL_PKEY_PARAM_RSA_D})
    parts.push_back(part_of(key, name));
  O(EVP_PKEY_free)(key);
  return parts;
}

// ---- A provider with that service -----------------------------------------------

class RsaByService : public testing::Test {
 protected:
  RsaByService() {
    fake.compute = private_operation;
    fake.generate = new_key;
    (void)take_system_log();
  }
  void load(Settings settings) {
    settings.insert(settings.begin(), {{"in_process", "no"}, {"service", fake.path()}});
    library = std::make_unique<Library>(settings);
    ASSERT_TRUE(library->is_ready()) << library->errors();
    key = make_key_twins(*library, "RSA", 1024);
  }
  uint64_t count(const char *name) {
    return library->counter((std::string("lanecrypt.rsa-") + name).c_str());
  }

  // Signs with our provider. Empty if it failed, with the errors in `errors`.
  Bytes sign(int seed = 1, const KeyTwins *with = nullptr) {
    const KeyTwins &of = with == nullptr ? key : *with;
    const PkeyContext context = context_for(*library, of.sides[1].get(), kProperties[1]);
    const Bytes digest(32, uint8_t(seed));
    Bytes signature(of.bytes);
    size_t bytes = signature.size();
    EVP_MD *sha256 = O(EVP_MD_fetch)(library->get(), "SHA256", nullptr);
    const bool done = O(EVP_PKEY_sign_init)(context.get()) == 1 &&
                      O(EVP_PKEY_CTX_set_signature_md)(context.get(), sha256) == 1 &&
                      O(EVP_PKEY_sign)(context.get(), signature.data(), &bytes, digest.data(),
                                       digest.size()) == 1;
    O(EVP_MD_free)(sha256);
    errors = take_error_texts();
    return done ? signature : Bytes();
  }
  // Whether OpenSSL's own signature, which has no randomness, is the same.
  bool is_right(const Bytes &signature, int seed = 1) {
    const PkeyContext context = context_for(*library, key.sides[0].get(), kProperties[0]);
    const Bytes digest(32, uint8_t(seed));
    EVP_MD *sha256 = O(EVP_MD_fetch)(library->get(), "SHA256", nullptr);
    const bool right = O(EVP_PKEY_verify_init)(context.get()) == 1 &&
                       O(EVP_PKEY_CTX_set_signature_md)(context.get(), sha256) == 1 &&
                       O(EVP_PKEY_verify)(context.get(), signature.data(), signature.size(),
                                          digest.data(), digest.size()) == 1;
    O(EVP_MD_free)(sha256);
    take_errors();
    return right;
  }
  bool signs_rightly(int seed = 1) { return is_right(sign(seed), seed); }

  Pkey generate(unsigned bits, EVP_PKEY_gen_cb *tell = nullptr) {
    const PkeyContext context(O(EVP_PKEY_CTX_new_from_name)(library->get(), "RSA", kProperties[1]));
    EVP_PKEY *made = nullptr;
    if (O(EVP_PKEY_keygen_init)(context.get()) != 1 ||
        O(EVP_PKEY_CTX_set_rsa_keygen_bits)(context.get(), int(bits)) != 1)
      return nullptr;
    if (tell != nullptr) O(EVP_PKEY_CTX_set_cb)(context.get(), tell);
    if (O(EVP_PKEY_generate)(context.get(), &made) != 1) made = nullptr;
    errors = take_error_texts();
    return Pkey(made);
  }
  bool is_whole(const Pkey &made) {
    const PkeyContext context = context_for(*library, made.get(), kProperties[0]);
    return O(EVP_PKEY_check)(context.get()) == 1;
  }

  FakeService fake;
  std::unique_ptr<Library> library;
  KeyTwins key;
  std::string errors;
};

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

// What OpenSSL decrypts, or refuses, and what it gives in the place of wrong padding.
TEST_F(RsaByService, DecryptsAsOpenSslDoes) {
  load({{"rsa", "always"}});
  int jobs = 0;
  for (const int padding : {RSA_PKCS1_PADDING, RSA_PKCS1_OAEP_PADDING, RSA_NO_PADDING}) {
    for (int n = 0; n < 6; ++n) {
      const PkeyContext seals = context_for(*library, key.sides[0].get(), kProperties[0]);
      // The last is no ciphertext of this padding, as a rule.
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

// With the default settings a process that signs little does not even connect.
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
  // Without devices of the process's own the provider would not offer RSA.
  load({{"in_process", "yes"}, {"devices", "none"}, {"rsa", "always"}, {"service", "off"}});
  for (int n = 0; n < 20; ++n) EXPECT_TRUE(signs_rightly(n));
  EXPECT_EQ(0, fake.sessions);
  EXPECT_EQ(20u, count("cpu-jobs"));
}

// Devices of the process's own are enough, unless the settings name a service.
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

// ---- What it does not do ---------------------------------------------------------

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
  // It comes back.
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
  EXPECT_NE(std::string::npos, errors.find("/run/lanecrypt/socket: No such file")) << errors;
  EXPECT_EQ(1u, count("failures"));
  EXPECT_EQ(0u, count("cpu-jobs"));
  EXPECT_EQ(nullptr, generate(1024));
  EXPECT_NE(std::string::npos, errors.find("service = require is set")) << errors;
}

// Its usual place, for one user.
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

template <class What>
int in_child(const What &what) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    _exit(what());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

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

// A filter that forbids nothing, which the provider cannot know.
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

// ---- Jobs of ASYNC ------------------------------------------------------------------

struct Signing {
  Library *library;
  EVP_PKEY *key;
  size_t bytes;
  uint8_t seed;
  bool block_pause = false;
  bool is_right = false;
};

int sign_in_job(void *argument) {
  // The argument is a copy that lasts as long as the job.
  Signing &signing = **static_cast<Signing **>(argument);
  const PkeyContext context = context_for(*signing.library, signing.key, kProperties[1]);
  const Bytes digest(32, signing.seed);
  Bytes signature(signing.bytes), recovered(signing.bytes);
  size_t bytes = signature.size();
  if (signing.block_pause) O(ASYNC_block_pause)();
  bool done = O(EVP_PKEY_sign_init)(context.get()) == 1 &&
              O(EVP_PKEY_sign)(context.get(), signature.data(), &bytes, digest.data(), 32) == 1;
  if (signing.block_pause) O(ASYNC_unblock_pause)();
  done = done && O(EVP_PKEY_verify_init)(context.get()) == 1 &&
         O(EVP_PKEY_verify)(context.get(), signature.data(), bytes, digest.data(), 32) == 1;
  signing.is_right = done;
  return done ? 1 : 0;
}

struct Job {
  Signing signing{};
  ASYNC_JOB *job = nullptr;
  ASYNC_WAIT_CTX *wait = O(ASYNC_WAIT_CTX_new)();
  int result = 0;
  bool ended = true;

  ~Job() { O(ASYNC_WAIT_CTX_free)(wait); }
  // Starts it or goes on with it.
  int go_on() {
    Signing *what = &signing;
    const int state = O(ASYNC_start_job)(&job, wait, &result, sign_in_job, &what, sizeof what);
    ended = state != ASYNC_PAUSE;
    if (ended) job = nullptr;
    return state;
  }
  int descriptor() const {
    OSSL_ASYNC_FD descriptors[4];
    size_t count = 0;
    if (!O(ASYNC_WAIT_CTX_get_all_fds)(wait, nullptr, &count) || count != 1) return -1;
    O(ASYNC_WAIT_CTX_get_all_fds)(wait, descriptors, &count);
    return descriptors[0];
  }
  bool is_woken(int ms) const {
    pollfd one = {descriptor(), POLLIN, 0};
    return one.fd >= 0 && poll(&one, 1, ms) == 1;
  }
};

class JobsByService : public RsaByService {
 protected:
  void SetUp() override {
    if (!O(ASYNC_is_capable)()) GTEST_SKIP() << "this OpenSSL has no ASYNC jobs";
  }
  void TearDown() override { O(ASYNC_cleanup_thread)(); }
  void begin(Job &job, int seed) {
    job.signing = {library.get(), key.sides[1].get(), key.bytes, uint8_t(seed)};
    EXPECT_NE(ASYNC_ERR, job.go_on());
  }
  // Until all have ended. Returns how many were right.
  int finish(std::deque<Job> &jobs, int ms = 20'000) {
    int right = 0;
    for (Job &job : jobs) {
      while (!job.ended) {
        if (!job.is_woken(ms)) {
          ADD_FAILURE() << "a job was not woken";
          return -1;
        }
        job.go_on();
      }
      right += job.result == 1 && job.signing.is_right;
    }
    return right;
  }
};

TEST_F(JobsByService, AreWokenByOneDescriptorEach) {
  fake.delay_ms = 10;
  load({{"rsa", "always"}});
  std::deque<Job> jobs(64);
  for (int round = 0; round < 3; ++round) {
    for (size_t n = 0; n < jobs.size(); ++n) begin(jobs[n], int(n) + round);
    int paused = 0;
    for (const Job &job : jobs) paused += !job.ended;
    EXPECT_EQ(64, paused);
    EXPECT_EQ(64, finish(jobs));
  }
  EXPECT_EQ(3u * 64, count("service-jobs"));
  EXPECT_EQ(0u, count("cpu-jobs"));
}

// With the default settings: a trial shows that there are many.
TEST_F(JobsByService, ACrowdFindsTheService) {
  for (auto &known : fake.page().rsa_us)
    for (auto &us : known) us = 200;
  load({});
  std::deque<Job> jobs(32);
  for (int round = 0; round < 20; ++round) {
    for (size_t n = 0; n < jobs.size(); ++n) begin(jobs[n], int(n) + round);
    EXPECT_EQ(32, finish(jobs));
  }
  EXPECT_EQ(20u * 32, count("service-jobs") + count("cpu-jobs"));
  EXPECT_GT(count("service-jobs"), 20u * 32 / 2);
}

// There is no thread of ours to call a callback, so such a job blocks.
TEST_F(JobsByService, ThatWaitByCallbacksBlock) {
  fake.delay_ms = 5;
  load({{"rsa", "always"}});
  std::deque<Job> jobs(4);
  for (Job &job : jobs) {
    O(ASYNC_WAIT_CTX_set_callback)
    (
        job.wait, [](void *) { return 1; }, nullptr);
    begin(job, 3);
    EXPECT_TRUE(job.ended);
    EXPECT_EQ(1, job.result);
  }
  EXPECT_EQ(4u, count("service-jobs"));
}

TEST_F(JobsByService, DoNotPauseWhereThatIsBlocked) {
  fake.delay_ms = 20;
  load({{"rsa", "always"}});
  Job job;
  for (int n = 0; n < 4; ++n) {
    job.signing = {library.get(), key.sides[1].get(), key.bytes, uint8_t(n), true};
    EXPECT_EQ(ASYNC_FINISH, job.go_on());
    EXPECT_EQ(1, job.result);
  }
  EXPECT_EQ(4u, count("service-jobs"));
}

TEST_F(JobsByService, AreResumedTooEarly) {
  fake.delay_ms = 20;
  load({{"rsa", "always"}});
  Job job;
  for (int n = 0; n < 5; ++n) {
    begin(job, n);
    int more = 0;
    while (!job.ended && ++more < 1'000'000) job.go_on();
    EXPECT_EQ(1, job.result);
  }
  EXPECT_EQ(5u, count("service-jobs"));
}

// In a child: OpenSSL has no way to take back a job that is not resumed.
TEST_F(JobsByService, ThatAreNeverResumedLeaveNothing) {
  fake.delay_ms = 5;
  load({{"rsa", "always"}});
  EXPECT_EQ(0, in_child([&] {
              for (int round = 0; round < 5; ++round) {
                std::deque<Job> jobs(40);
                for (size_t n = 0; n < jobs.size(); ++n) begin(jobs[n], int(n));
                for (size_t n = 0; n < jobs.size(); n += 2) jobs[n].ended = true;
                if (finish(jobs) < 20) return 1;
              }
              // A wait context that has seen a job given up serves another.
              Job job;
              begin(job, 1);
              job.job = nullptr;
              begin(job, 2);
              while (!job.ended) {
                if (!job.is_woken(5000)) return 2;
                job.go_on();
              }
              return job.result == 1 && count("cpu-jobs") == 0 ? 0 : 3;
            }));
}

TEST_F(JobsByService, AreDoneByTheCpuWhenTheServiceGoes) {
  load({{"rsa", "always"}});
  EXPECT_TRUE(signs_rightly());
  fake.answer = FakeService::Answer::kNone;
  std::deque<Job> jobs(32);
  for (size_t n = 0; n < jobs.size(); ++n) begin(jobs[n], int(n));
  fake.stop();
  EXPECT_EQ(32, finish(jobs));
  EXPECT_EQ(32u, count("cpu-jobs"));
  EXPECT_EQ(1u, take_system_log().size());
}

TEST_F(JobsByService, AreDoneByTheCpuWhenTheServiceIsSilent) {
  load({{"rsa", "always"}});
  EXPECT_TRUE(signs_rightly());
  fake.answer = FakeService::Answer::kNone;
  std::deque<Job> jobs(8);
  for (size_t n = 0; n < jobs.size(); ++n) begin(jobs[n], int(n));
  EXPECT_EQ(8, finish(jobs, 8000));
  EXPECT_EQ(8u, count("cpu-jobs"));
  EXPECT_EQ(1u, take_system_log().size());
}

TEST_F(JobsByService, OfAChildHaveTheirOwn) {
  fake.delay_ms = 50;
  load({{"rsa", "always"}});
  std::deque<Job> jobs(4);
  for (size_t n = 0; n < jobs.size(); ++n) begin(jobs[n], int(n));
  EXPECT_EQ(0, in_child([&] {
              // Jobs that the parent has begun, and new ones with a wait context of its.
              if (jobs[0].go_on() != ASYNC_FINISH || jobs[0].result != 1) return 1;
              for (int n = 0; n < 3; ++n) {
                begin(jobs[0], n);
                while (!jobs[0].ended) {
                  if (!jobs[0].is_woken(5000)) return 2;
                  jobs[0].go_on();
                }
                if (jobs[0].result != 1) return 3;
              }
              return count("service-jobs") == 3 && count("cpu-jobs") == 1 ? 0 : 4;
            }));
  EXPECT_EQ(4, finish(jobs));
  EXPECT_EQ(4u, count("service-jobs"));
}

// ---- New keys -----------------------------------------------------------------------

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

// With the default settings too. The service of the tests would take too long for one.
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

// The service would draw by a generator that the program did not choose.
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
