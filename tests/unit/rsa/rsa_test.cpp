// RSA through the public C ABI, on every device and the CPU, compared with OpenSSL: results, and
// what is refused.
//
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstddef>
#include <cstring>

#include "unit/support/devices.h"
#include "unit/support/rsa_test_key.h"

namespace lanecrypt::test {
namespace {

class RsaKeyTest : public testing::Test {
 protected:
  ~RsaKeyTest() override { lc_rsa_key_free(key_); }
  void refused(const char *what, const lc_rsa_parts &parts) {
    EXPECT_EQ(LC_ERROR_ARGUMENT, lc_rsa_key_new(&parts, &key_)) << what;
    EXPECT_EQ(nullptr, key_) << what;
  }
  lc_rsa_key *key_ = nullptr;
};

TEST_F(RsaKeyTest, PartsMustBelongTogether) {
  const TestKey &good = key_of_bits(1024);
  const auto changed = [](const Bytes &number) {
    Bytes other = number;
    other[other.size() / 2] ^= 2;
    return other;
  };
  const struct {
    const char *name;
    lc_number lc_rsa_parts::*part;
    Bytes other;
  } cases[] = {{"n", &lc_rsa_parts::n, changed(good.n)},
               {"p", &lc_rsa_parts::p, changed(good.p)},
               {"q", &lc_rsa_parts::q, changed(good.q)},
               {"dp", &lc_rsa_parts::dp, changed(good.dp)},
               {"dq", &lc_rsa_parts::dq, changed(good.dq)},
               {"qinv", &lc_rsa_parts::qinv, changed(good.qinv)},
               {"d", &lc_rsa_parts::d, good.dp},
               {"even e", &lc_rsa_parts::e, {4}},
               {"e of 1", &lc_rsa_parts::e, {1}},
               {"no p", &lc_rsa_parts::p, {}},
               {"short n", &lc_rsa_parts::n, Bytes(63, 0xff)}};
  for (const auto &one : cases) {
    lc_rsa_parts parts = good.parts();
    parts.*one.part = number_of(one.other);
    refused(one.name, parts);
  }
  lc_rsa_parts parts = good.parts();
  parts.struct_size = sizeof parts - 1;
  refused("struct_size", parts);
}

TEST_F(RsaKeyTest, LeadingZerosAndAGivenD) {
  const TestKey &good = key_of_bits(1024);
  Bytes padded(5, 0);
  padded.insert(padded.end(), good.n.begin(), good.n.end());
  const Bytes d = bytes_of(good.secret.get());
  lc_rsa_parts parts = good.parts();
  parts.n = number_of(padded);
  parts.d = number_of(d);
  LANECRYPT_ASSERT_OK(lc_rsa_key_new(&parts, &key_));
  EXPECT_EQ(128u, lc_rsa_key_bytes(key_));
}

// Runs jobs on one device of a context, or on its CPU.
class RsaRun {
 public:
  RsaRun(const char *devices, uint32_t device)
      : context_(devices, LC_FALLBACK_CPU), device_(device) {}

  void expect_right(const TestKey &key, lc_rsa_operation operation,
                    const std::vector<Bytes> &inputs) {
    const lc_rsa_parts parts = key.parts();
    lc_rsa_key *made = nullptr;
    LANECRYPT_ASSERT_OK(lc_rsa_key_new(&parts, &made));
    std::vector<Bytes> outputs(inputs.size(), Bytes(key.n.size(), 0xa5));
    std::vector<lc_rsa_message> messages;
    for (size_t n = 0; n < inputs.size(); ++n)
      messages.push_back({made, inputs[n].data(), outputs[n].data()});
    const lc_rsa_job job = {sizeof job,      operation,       device_,
                            messages.data(), messages.size(), sizeof messages[0]};
    lc_result result{};
    result.struct_size = sizeof result;
    LANECRYPT_ASSERT_OK(lc_rsa_run(context_.get(), &job, &result));
    EXPECT_EQ(device_ == LC_CPU ? inputs.size() : 0, result.cpu_operations);
    EXPECT_EQ(device_ == LC_CPU ? 0 : inputs.size(), result.device_operations);
    EXPECT_EQ(0u, result.failed_checks);
    lc_rsa_key_free(made);
    for (size_t n = 0; n < inputs.size(); ++n)
      ASSERT_EQ(
          key.power(inputs[n], operation == LC_RSA_PRIVATE ? key.secret.get() : key.exponent.get()),
          outputs[n])
          << "message " << n << " of a key of " << BN_num_bits(key.modulus.get()) << " bits";
  }
  lc_context *context() { return context_.get(); }

 private:
  Context context_;
  uint32_t device_;
};

TEST(RsaCpuTest, ExtremeInputs) {
  RsaRun run("none", LC_CPU);
  for (const int bits : {512, 1024, 2048}) {
    const TestKey &key = key_of_bits(bits);
    run.expect_right(key, LC_RSA_PRIVATE, extreme_inputs(key, 10));
    run.expect_right(key, LC_RSA_PUBLIC, extreme_inputs(key, 10));
  }
}

TEST(RsaCpuTest, WrongJobsAreRefused) {
  Context context("none", LC_FALLBACK_CPU);
  const TestKey &good = key_of_bits(1024);
  lc_rsa_parts parts = good.parts();
  lc_rsa_key *key = nullptr, *public_key = nullptr;
  LANECRYPT_ASSERT_OK(lc_rsa_key_new(&parts, &key));
  parts.p = parts.q = parts.dp = parts.dq = parts.qinv = {};
  LANECRYPT_ASSERT_OK(lc_rsa_key_new(&parts, &public_key));
  Bytes in(128, 0x12), out(128);
  const lc_rsa_message good_message = {key, in.data(), out.data()};
  lc_rsa_message message = good_message;
  const lc_rsa_job good_job = {sizeof good_job, LC_RSA_PRIVATE, LC_ANY_DEVICE, &message, 1,
                               sizeof message};
  lc_rsa_job job = good_job;
  const auto refused = [&](const char *what) {
    EXPECT_EQ(LC_ERROR_ARGUMENT, lc_rsa_run(context.get(), &job, nullptr)) << what;
    EXPECT_STRNE("", lc_last_error()) << what;
    message = good_message;
    job = good_job;
  };
  job.struct_size = 8;
  refused("struct_size");
  job.message_size = 8;
  refused("message_size");
  job.operation = static_cast<lc_rsa_operation>(1 + LC_RSA_PRIVATE);
  refused("operation");
  job.messages = nullptr;
  refused("messages");
  job.device = 1000;
  refused("device");
  message.key = nullptr;
  refused("key");
  message.key = public_key;
  refused("private operation, public key");
  message.out = nullptr;
  refused("out");
  message.in = out.data() + 1;
  refused("overlap");
  message.in = good.n.data();
  refused("in = n");
  job.message_count = 0;
  LANECRYPT_ASSERT_OK(lc_rsa_run(context.get(), &job, nullptr));
  lc_rsa_key_free(public_key);
  // The job keeps the parts of the key that it needs.
  job = good_job;
  lc_ticket *ticket = nullptr;
  LANECRYPT_ASSERT_OK(lc_rsa_submit(context.get(), &job, nullptr, &ticket));
  lc_rsa_key_free(key);
  LANECRYPT_ASSERT_OK(lc_ticket_wait(ticket, nullptr));
  lc_ticket_free(ticket);
  EXPECT_EQ(good.power(in, good.secret.get()), out);
  EXPECT_EQ(1u, context.counters(LC_CPU).operations);
}

class RsaDeviceTest : public testing::TestWithParam<RsaCase> {
 protected:
  void SetUp() override {
    if (GetParam().device.absent) GTEST_SKIP() << "needs a GPU";
    form_ = std::make_unique<ScopedEnvironment>("LANECRYPT_RSA_FORM", GetParam().form);
    run_ = std::make_unique<RsaRun>(GetParam().device.id.c_str(), 0);
  }
  bool is_gpu() const { return GetParam().device.is_gpu; }

  std::unique_ptr<ScopedEnvironment> form_;
  std::unique_ptr<RsaRun> run_;
};

TEST_P(RsaDeviceTest, PublicExponents) {
  for (const BN_ULONG e : std::vector<BN_ULONG>{3, 17, 0xfedcba9876543217}) {
    const TestKey key = TestKey::random(1024, e);
    run_->expect_right(key, LC_RSA_PRIVATE, extreme_inputs(key, 2));
    run_->expect_right(key, LC_RSA_PUBLIC, extreme_inputs(key, 2));
  }
}

// Keys of different lengths mixed in one job, in place.
TEST_P(RsaDeviceTest, MixedKeys) {
  std::vector<TestKey> keys;
  for (const int bits : {1024, 1030, 2048, 1024, 1536}) {
    if (!is_gpu() && bits == 1536) continue;
    keys.push_back(TestKey::random(bits, keys.size() % 2 == 0 ? 65537 : 5));
  }
  std::vector<lc_rsa_key *> made(keys.size());
  std::vector<Bytes> expected, data;
  std::vector<lc_rsa_message> messages;
  const size_t count = is_gpu() ? scaled(5000) : 12;
  for (size_t k = 0; k < keys.size(); ++k) {
    const lc_rsa_parts parts = keys[k].parts();
    LANECRYPT_ASSERT_OK(lc_rsa_key_new(&parts, &made[k]));
  }
  for (size_t n = 0; n < count; ++n) {
    const TestKey &key = keys[n % keys.size()];
    Bytes in(key.n.size(), static_cast<uint8_t>(n));
    in[0] = 0;
    data.push_back(in);
    expected.push_back(key.power(in, key.secret.get()));
  }
  for (size_t n = 0; n < count; ++n)
    messages.push_back({made[n % keys.size()], data[n].data(), data[n].data()});
  const lc_rsa_job job = {sizeof job,      LC_RSA_PRIVATE,  0,
                          messages.data(), messages.size(), sizeof messages[0]};
  LANECRYPT_ASSERT_OK(lc_rsa_run(run_->context(), &job, nullptr));
  for (lc_rsa_key *key : made) lc_rsa_key_free(key);
  for (size_t n = 0; n < count; ++n) ASSERT_EQ(expected[n], data[n]) << "message " << n;
}

// The result struct is filled when the callback runs. A completion with the struct size of the
// first version gets no result.
TEST_P(RsaDeviceTest, TellsOfTheLaunchOfAJob) {
  const TestKey &key = key_of_bits(1024);
  const lc_rsa_parts parts = key.parts();
  lc_rsa_key *made = nullptr;
  LANECRYPT_ASSERT_OK(lc_rsa_key_new(&parts, &made));
  Bytes data(3 * key.n.size(), 0);
  std::vector<lc_rsa_message> messages;
  for (size_t n = 0; n < 3; ++n) {
    uint8_t *const at = data.data() + n * key.n.size();
    messages.push_back({made, at, at});
  }
  const lc_rsa_job job = {sizeof job,      LC_RSA_PRIVATE,  0,
                          messages.data(), messages.size(), sizeof messages[0]};
  struct Told {
    lc_result result{};
    lc_result at_callback{};
  } told;
  told.result.struct_size = sizeof told.result;
  lc_completion completion{};
  completion.struct_size = sizeof completion;
  completion.callback = [](void *argument, lc_status) {
    static_cast<Told *>(argument)->at_callback = static_cast<Told *>(argument)->result;
  };
  completion.argument = &told;
  completion.eventfd = -1;
  completion.result = &told.result;
  const auto run = [&] {
    lc_ticket *ticket = nullptr;
    LANECRYPT_ASSERT_OK(lc_rsa_submit(run_->context(), &job, &completion, &ticket));
    LANECRYPT_ASSERT_OK(lc_ticket_wait(ticket, nullptr));
    lc_ticket_free(ticket);
  };
  const auto begin = std::chrono::steady_clock::now();
  run();
  const auto took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin);
  EXPECT_EQ(3u, told.at_callback.device_operations);
  EXPECT_EQ(3u, told.at_callback.batch_operations);
  EXPECT_GT(told.at_callback.device_ns, 0u);
  EXPECT_LE(told.at_callback.waiting_ns + told.at_callback.device_ns, uint64_t(took.count()));
  told = {};
  completion.struct_size = offsetof(lc_completion, result);
  run();
  EXPECT_EQ(0u, told.at_callback.device_operations);
  lc_rsa_key_free(made);
}

// A key whose "primes" are composite. The check refuses the result of the Chinese remainder
// theorem, and the CPU does the operation instead. Its answer is as meaningless as the key.
TEST_P(RsaDeviceTest, AWrongResultNeverLeaves) {
  const TestKey &good = key_of_bits(1024);
  BN_CTX *context = BN_CTX_new();
  // A composite p of the right length: dp = 1/e mod p-1 exists all the same.
  Bn p = bn(BN_dup(good.first.get())), less = bn(), rest = bn();
  do {
    BN_add_word(p.get(), 2);
    BN_sub(less.get(), p.get(), BN_value_one());
    BN_gcd(rest.get(), less.get(), good.exponent.get(), context);
  } while (!BN_is_one(rest.get()) || BN_check_prime(p.get(), context, nullptr) != 0);
  const TestKey bad(p.get(), good.second.get(), good.exponent.get());
  BN_CTX_free(context);
  const lc_rsa_parts parts = bad.parts();
  lc_rsa_key *key = nullptr;
  LANECRYPT_ASSERT_OK(lc_rsa_key_new(&parts, &key));
  Bytes in(bad.n.size(), 0x35), out(bad.n.size());
  const lc_rsa_message message = {key, in.data(), out.data()};
  const lc_rsa_job job = {sizeof job, LC_RSA_PRIVATE, 0, &message, 1, sizeof message};
  lc_result result{};
  result.struct_size = sizeof result;
  const lc_status status = lc_rsa_run(run_->context(), &job, &result);
  lc_rsa_key_free(key);
  // The key is at fault, not the device.
  EXPECT_TRUE(status == LC_OK || status == LC_ERROR_ARGUMENT) << lc_last_error();
  if (status == LC_OK) {
    EXPECT_EQ(1u, result.failed_checks);
    EXPECT_EQ(0u, result.device_operations);
  }
  // The device stays in service.
  run_->expect_right(good, LC_RSA_PRIVATE, extreme_inputs(good, 1));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RsaDeviceTest);
INSTANTIATE_TEST_SUITE_P(, RsaDeviceTest, testing::ValuesIn(rsa_cases()), rsa_case_name);

}  // namespace
}  // namespace lanecrypt::test
