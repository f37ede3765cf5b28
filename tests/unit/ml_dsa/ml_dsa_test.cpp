// ML-DSA (FIPS 204) through the public C ABI, on every device and on the CPU: vectors, many keys at
// once, and what is refused.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/evp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "unit/support/devices.h"

namespace lanecrypt::test {
namespace {

constexpr lc_ml_dsa_set kSets[] = {LC_ML_DSA_44, LC_ML_DSA_65, LC_ML_DSA_87};

Bytes sha256_of(const Bytes &bytes) {
  Bytes digest(32);
  EXPECT_EQ(1,
            EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr));
  return digest;
}

Bytes from_hex(const std::string &text) {
  Bytes bytes;
  for (size_t n = 0; n + 1 < text.size(); n += 2)
    bytes.push_back(uint8_t(std::stoi(text.substr(n, 2), nullptr, 16)));
  return bytes;
}

// Returns the words of each line of the vectors that begins with `kind`.
std::vector<std::vector<std::string>> vectors(const std::string &kind) {
  std::ifstream file(LANECRYPT_ML_DSA_VECTORS);
  std::vector<std::vector<std::string>> found;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::vector<std::string> all;
    for (std::string word; words >> word;) all.push_back(word);
    if (!all.empty() && all[0] == kind) found.push_back(all);
  }
  EXPECT_FALSE(found.empty()) << kind;
  return found;
}

lc_ml_dsa_set set_of(const std::string &number) { return lc_ml_dsa_set(std::stoi(number)); }

struct FreeKey {
  void operator()(lc_ml_dsa_key *key) const { lc_ml_dsa_key_free(key); }
};
using Key = std::unique_ptr<lc_ml_dsa_key, FreeKey>;

lc_ml_dsa_parts parts_of(lc_ml_dsa_set set) {
  lc_ml_dsa_parts parts{};
  parts.struct_size = sizeof parts;
  parts.set = set;
  return parts;
}

Key make_key(const lc_ml_dsa_parts &parts) {
  lc_ml_dsa_key *key = nullptr;
  EXPECT_EQ(LC_OK, lc_ml_dsa_key_new(&parts, &key)) << lc_last_error();
  return Key(key);
}
Key private_key(lc_ml_dsa_set set, const Bytes &bytes) {
  lc_ml_dsa_parts parts = parts_of(set);
  parts.private_key = bytes.data();
  return make_key(parts);
}
Key public_key(lc_ml_dsa_set set, const Bytes &bytes) {
  lc_ml_dsa_parts parts = parts_of(set);
  parts.public_key = bytes.data();
  return make_key(parts);
}
Key seeded_key(lc_ml_dsa_set set, uint8_t first) {
  Bytes seed(32);
  for (size_t n = 0; n < seed.size(); ++n) seed[n] = uint8_t(first + n);
  lc_ml_dsa_parts parts = parts_of(set);
  parts.seed = seed.data();
  return make_key(parts);
}

// Runs jobs on one device of a context, or on its CPU, and checks where they ran.
class MlDsaRun {
 public:
  MlDsaRun(lc_context *context, uint32_t device) : context_(context), device_(device) {}

  lc_ml_dsa_job job(lc_ml_dsa_operation operation, lc_message_encoding encoding) const {
    lc_ml_dsa_job job{};
    job.struct_size = sizeof job;
    job.operation = operation;
    job.encoding = encoding;
    job.device = device_;
    job.has_device = 1;
    job.message_size = sizeof(lc_ml_dsa_message);
    return job;
  }
  void run(lc_ml_dsa_job job, const std::vector<lc_ml_dsa_message> &messages) {
    job.messages = messages.data();
    job.message_count = messages.size();
    lc_result result{};
    result.struct_size = sizeof result;
    LANECRYPT_ASSERT_OK(lc_ml_dsa_run(context_, &job, &result));
    EXPECT_EQ(device_ == LC_CPU ? messages.size() : 0, result.cpu_operations);
    EXPECT_EQ(device_ == LC_CPU ? 0 : messages.size(), result.device_operations);
    EXPECT_EQ(0u, result.failed_checks);
  }
  Bytes sign(lc_ml_dsa_set set, const lc_ml_dsa_key *key, const Bytes &text,
             lc_message_encoding encoding, const Bytes &context = {}, const Bytes &random = {}) {
    Bytes signature(lc_ml_dsa_bytes(set, LC_ML_DSA_SIGNATURE), 0xa5);
    lc_ml_dsa_message message{};
    message.key = key;
    message.message = text.data();
    message.message_bytes = text.size();
    message.context = context.data();
    message.context_bytes = context.size();
    message.random = random.empty() ? nullptr : random.data();
    message.signature = signature.data();
    message.signature_bytes = signature.size();
    lc_ml_dsa_job wanted = job(LC_ML_DSA_SIGN, encoding);
    wanted.deterministic = random.empty() ? 1 : 0;
    run(wanted, {message});
    return signature;
  }
  bool verify(const lc_ml_dsa_key *key, const Bytes &text, const Bytes &signature,
              lc_message_encoding encoding, const Bytes &context = {}) {
    Bytes copy = signature;
    uint8_t verdict = 0xa5;
    lc_ml_dsa_message message{};
    message.key = key;
    message.message = text.data();
    message.message_bytes = text.size();
    message.context = context.data();
    message.context_bytes = context.size();
    message.signature = copy.data();
    message.signature_bytes = copy.size();
    lc_ml_dsa_job wanted = job(LC_ML_DSA_VERIFY, encoding);
    wanted.verdicts = &verdict;
    run(wanted, {message});
    EXPECT_EQ(signature, copy);
    EXPECT_LE(verdict, 1);
    return verdict == 1;
  }
  // Returns a key's public part followed by its private part.
  Bytes generate(lc_ml_dsa_set set, const Bytes &seed) {
    const size_t bytes = lc_ml_dsa_bytes(set, LC_ML_DSA_PUBLIC_KEY);
    Bytes whole(bytes + lc_ml_dsa_bytes(set, LC_ML_DSA_PRIVATE_KEY));
    lc_ml_dsa_message message{};
    message.random = seed.data();
    message.public_key = whole.data();
    message.private_key = &whole[bytes];
    lc_ml_dsa_job wanted = job(LC_ML_DSA_GENERATE, LC_MESSAGE_PURE);
    wanted.set = set;
    run(wanted, {message});
    return whole;
  }

 private:
  lc_context *const context_;
  const uint32_t device_;
};

// Returns mu, the message representative of FIPS 204, Algorithm 7, ML-DSA.Sign_internal: the hash
// of tr and the message with its context.
Bytes mu_of(const Bytes &tr, const Bytes &context, const Bytes &text) {
  Bytes all = tr, mu(64);
  all.push_back(0);
  all.push_back(uint8_t(context.size()));
  all.insert(all.end(), context.begin(), context.end());
  all.insert(all.end(), text.begin(), text.end());
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash(EVP_MD_CTX_new(),
                                                                     EVP_MD_CTX_free);
  EXPECT_EQ(1, EVP_DigestInit_ex(hash.get(), EVP_shake256(), nullptr));
  EXPECT_EQ(1, EVP_DigestUpdate(hash.get(), all.data(), all.size()));
  EXPECT_EQ(1, EVP_DigestFinalXOF(hash.get(), mu.data(), mu.size()));
  return mu;
}

// Checks a vector of the external interface, with a seed and a context. Signing mu gives the same
// signature.
void expect_pure(MlDsaRun run, const std::vector<std::string> &words) {
  SCOPED_TRACE(words[2]);
  const lc_ml_dsa_set set = set_of(words[1]);
  const Bytes seed = from_hex(words[2]), text = from_hex(words[3]), context = from_hex(words[4]);
  lc_ml_dsa_parts parts = parts_of(set);
  parts.seed = seed.data();
  const Key key = make_key(parts);
  const Bytes signature = run.sign(set, key.get(), text, LC_MESSAGE_PURE, context);
  EXPECT_EQ(from_hex(words[5]), sha256_of(signature));
  EXPECT_TRUE(run.verify(key.get(), text, signature, LC_MESSAGE_PURE, context));
  const Bytes whole = run.generate(set, seed);
  const auto tr = whole.begin() + std::ptrdiff_t(lc_ml_dsa_bytes(set, LC_ML_DSA_PUBLIC_KEY)) + 64;
  const Bytes mu = mu_of(Bytes(tr, tr + 64), context, text);
  EXPECT_EQ(signature, run.sign(set, key.get(), mu, LC_MESSAGE_MU));
}

void expect_vectors(MlDsaRun run, bool all) {
  size_t n = 0;
  for (const auto &words : vectors("generate"))
    if (all || n++ % 8 == 0) {
      EXPECT_EQ(from_hex(words[3]), sha256_of(run.generate(set_of(words[1]), from_hex(words[2]))))
          << words[2];
    }
  for (const auto &words : vectors("sign")) {
    const Key key = private_key(set_of(words[1]), from_hex(words[2]));
    const Bytes random = words[4] == "-" ? Bytes() : from_hex(words[4]);
    EXPECT_EQ(from_hex(words[5]),
              sha256_of(run.sign(set_of(words[1]), key.get(), from_hex(words[3]), LC_MESSAGE_RAW,
                                 {}, random)))
        << words[1] << (random.empty() ? ", deterministic" : ", hedged");
  }
  for (const auto &words : vectors("verify")) {
    const Key key = public_key(set_of(words[1]), from_hex(words[2]));
    EXPECT_EQ(words[5] == "right",
              run.verify(key.get(), from_hex(words[3]), from_hex(words[4]), LC_MESSAGE_RAW));
  }
  n = 0;
  for (const auto &words : vectors("pure"))
    if (all || n++ % 3 == 0) expect_pure(run, words);
}

// Checks that signing with a context string and signing mu give the same signatures.
void expect_encodings(MlDsaRun run) {
  const Bytes text = {'t', 'e', 'x', 't'}, context(255, 7);
  Bytes raw = {0, 255};
  raw.insert(raw.end(), context.begin(), context.end());
  raw.insert(raw.end(), text.begin(), text.end());
  const Key key = seeded_key(LC_ML_DSA_44, 3);
  const Bytes pure = run.sign(LC_ML_DSA_44, key.get(), text, LC_MESSAGE_PURE, context);
  EXPECT_EQ(pure, run.sign(LC_ML_DSA_44, key.get(), raw, LC_MESSAGE_RAW));
  EXPECT_TRUE(run.verify(key.get(), text, pure, LC_MESSAGE_PURE, context));
  EXPECT_FALSE(run.verify(key.get(), text, pure, LC_MESSAGE_PURE));
  const Bytes mu(64, 9);
  const Bytes external = run.sign(LC_ML_DSA_44, key.get(), mu, LC_MESSAGE_MU);
  EXPECT_TRUE(run.verify(key.get(), mu, external, LC_MESSAGE_MU));
  EXPECT_FALSE(run.verify(key.get(), mu, external, LC_MESSAGE_PURE));
  // Hedged signatures all differ.
  lc_ml_dsa_job job = run.job(LC_ML_DSA_SIGN, LC_MESSAGE_MU);
  std::vector<Bytes> signatures(3, Bytes(pure.size()));
  std::vector<lc_ml_dsa_message> messages;
  for (Bytes &signature : signatures)
    messages.push_back({.key = key.get(),
                        .message = mu.data(),
                        .message_bytes = mu.size(),
                        .context = nullptr,
                        .context_bytes = 0,
                        .random = nullptr,
                        .signature = signature.data(),
                        .signature_bytes = signature.size(),
                        .public_key = nullptr,
                        .private_key = nullptr});
  run.run(job, messages);
  EXPECT_NE(signatures[0], signatures[1]);
  for (const Bytes &signature : signatures)
    EXPECT_TRUE(run.verify(key.get(), mu, signature, LC_MESSAGE_MU));
}

TEST(MlDsaCpu, Vectors) {
  Context context("none", LC_FALLBACK_CPU);
  expect_vectors({context.get(), LC_CPU}, true);
  expect_encodings({context.get(), LC_CPU});
}

class MlDsaDevice : public testing::TestWithParam<DeviceCase> {
 protected:
  void SetUp() override {
    if (GetParam().absent) GTEST_SKIP() << "needs a GPU";
    context_ = std::make_unique<Context>(GetParam().id.c_str(), LC_FALLBACK_NONE);
    if (GetParam().is_gl()) GTEST_SKIP() << "OpenGL has no ML-DSA";
  }
  MlDsaRun run() { return {context_->get(), 0}; }
  std::unique_ptr<Context> context_;
};

TEST_P(MlDsaDevice, Vectors) {
  expect_vectors(run(), GetParam().is_gpu);
  expect_encodings(run());
}

// Signatures with many keys of all sets, from several threads at once. The CPU accepts all of them,
// and each device tells which of some changed ones are wrong.
TEST_P(MlDsaDevice, ManyKeysAtOnce) {
  const size_t threads = 3, each = scaled(GetParam().is_gpu ? 1000 : 6);
  std::vector<Key> keys;
  for (uint8_t n = 0; n < 12; ++n) keys.push_back(seeded_key(kSets[n % 3], n));
  Context cpu("none", LC_FALLBACK_CPU);
  const auto sign_and_verify = [&](size_t thread) {
    std::vector<Bytes> texts, signatures;
    std::vector<lc_ml_dsa_message> messages;
    for (size_t n = 0; n < each; ++n) {
      texts.push_back(Bytes(n % 200, uint8_t(thread + n)));
      signatures.push_back(Bytes(lc_ml_dsa_bytes(kSets[n % 3], LC_ML_DSA_SIGNATURE)));
    }
    for (size_t n = 0; n < each; ++n) {
      lc_ml_dsa_message message{};
      message.key = keys[n % keys.size()].get();
      message.message = texts[n].data();
      message.message_bytes = texts[n].size();
      message.signature = signatures[n].data();
      message.signature_bytes = signatures[n].size();
      messages.push_back(message);
    }
    run().run(run().job(LC_ML_DSA_SIGN, LC_MESSAGE_PURE), messages);
    for (size_t n = 0; n < each; n += 2) signatures[n][(7 * n) % signatures[n].size()] ^= 0x40;
    Bytes verdicts(each, 0xa5), again(each, 0xa5);
    lc_ml_dsa_job job = run().job(LC_ML_DSA_VERIFY, LC_MESSAGE_PURE);
    job.verdicts = verdicts.data();
    run().run(job, messages);
    MlDsaRun on_cpu(cpu.get(), LC_CPU);
    job = on_cpu.job(LC_ML_DSA_VERIFY, LC_MESSAGE_PURE);
    job.verdicts = again.data();
    on_cpu.run(job, messages);
    for (size_t n = 0; n < each; ++n) EXPECT_EQ(n % 2, verdicts[n]) << n;
    EXPECT_EQ(again, verdicts);
  };
  std::vector<std::thread> all;
  for (size_t n = 0; n < threads; ++n) all.emplace_back(sign_and_verify, n);
  for (std::thread &thread : all) thread.join();
  EXPECT_GT(context_->counters(0).launches, 0u);
}

INSTANTIATE_TEST_SUITE_P(Devices, MlDsaDevice, testing::ValuesIn(devices_under_test()),
                         device_case_name);

TEST(MlDsaKey, PartsMustBelongTogether) {
  Context context("none", LC_FALLBACK_CPU);
  MlDsaRun run(context.get(), LC_CPU);
  const Bytes seed(32, 1);
  const Bytes whole = run.generate(LC_ML_DSA_44, seed);
  const Bytes public_part(whole.begin(), whole.begin() + 1312);
  const Bytes private_part(whole.begin() + 1312, whole.end());
  lc_ml_dsa_parts all = parts_of(LC_ML_DSA_44);
  all.seed = seed.data();
  all.public_key = public_part.data();
  all.private_key = private_part.data();
  ASSERT_NE(nullptr, make_key(all));
  const auto refused = [](const char *what, const lc_ml_dsa_parts &parts) {
    lc_ml_dsa_key *key = nullptr;
    EXPECT_EQ(LC_ERROR_ARGUMENT, lc_ml_dsa_key_new(&parts, &key)) << what;
    EXPECT_EQ(nullptr, key) << what;
    EXPECT_STRNE("", lc_last_error()) << what;
  };
  const Bytes other(32, 2);
  lc_ml_dsa_parts parts = all;
  parts.seed = other.data();
  refused("another seed", parts);
  Bytes changed = public_part;
  changed[1000] ^= 1;
  parts = all;
  parts.public_key = changed.data();
  refused("another public key, with the seed", parts);
  parts.seed = nullptr;
  refused("another public key", parts);
  // Changes in tr, s1 and t0; and a coefficient of s1 that is out of range.
  for (const auto &[at, bits] :
       {std::pair<size_t, uint8_t>{64, 1}, {200, 1}, {2559, 1}, {128, 7}}) {
    changed = private_part;
    changed[at] = bits == 7 ? uint8_t(changed[at] | 7) : uint8_t(changed[at] ^ bits);
    parts = parts_of(LC_ML_DSA_44);
    parts.private_key = changed.data();
    refused("private key", parts);
  }
  refused("no part", parts_of(LC_ML_DSA_44));
  parts = all;
  parts.set = lc_ml_dsa_set(45);
  refused("no set", parts);
  parts = all;
  parts.struct_size = 8;
  refused("struct_size", parts);
}

TEST(MlDsaJobs, WrongOnesAreRefused) {
  Context context("none", LC_FALLBACK_CPU);
  const Key key = seeded_key(LC_ML_DSA_44, 0);
  const Bytes whole = MlDsaRun(context.get(), LC_CPU).generate(LC_ML_DSA_44, Bytes(32, 1));
  const Key of_others = public_key(LC_ML_DSA_44, Bytes(whole.begin(), whole.begin() + 1312));
  Bytes text(64), signature(2420);
  uint8_t verdict = 0;
  lc_ml_dsa_message good{};
  good.key = key.get();
  good.message = text.data();
  good.message_bytes = text.size();
  good.signature = signature.data();
  good.signature_bytes = signature.size();
  lc_ml_dsa_message message = good;
  lc_ml_dsa_job good_job{};
  good_job.struct_size = sizeof good_job;
  good_job.device = LC_CPU;
  good_job.messages = &message;
  good_job.message_count = 1;
  good_job.message_size = sizeof message;
  lc_ml_dsa_job job = good_job;
  const auto refused = [&](const char *what, lc_status status = LC_ERROR_ARGUMENT) {
    EXPECT_EQ(status, lc_ml_dsa_run(context.get(), &job, nullptr)) << what;
    EXPECT_STRNE("", lc_last_error()) << what;
    message = good;
    job = good_job;
  };
  job.struct_size = 8;
  refused("struct_size");
  job.message_size = 8;
  refused("message_size");
  job.operation = lc_ml_dsa_operation(3);
  refused("operation");
  job.encoding = LC_MESSAGE_PRE_HASH;
  refused("pre-hash", LC_ERROR_UNSUPPORTED);
  job.encoding = lc_message_encoding(9);
  refused("encoding");
  job.messages = nullptr;
  refused("messages");
  job.verdicts = &verdict;
  refused("verdicts of a signature");
  job.operation = LC_ML_DSA_VERIFY;
  refused("no verdicts");
  message.key = nullptr;
  refused("key");
  message.key = of_others.get();
  refused("a signature by a public key");
  message.signature = nullptr;
  refused("signature");
  message.signature_bytes = 2419;
  refused("room");
  message.message = nullptr;
  refused("message");
  message.context_bytes = 1;
  refused("context");
  message.context = text.data();
  message.context_bytes = 256;
  refused("long context");
  message.message_bytes = 63;
  job.encoding = LC_MESSAGE_MU;
  refused("mu");
  job.operation = LC_ML_DSA_GENERATE;
  refused("generation without a set");
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_ml_dsa_run(nullptr, &job, nullptr));
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_ml_dsa_run(context.get(), nullptr, nullptr));
  // A signature of a wrong length is a wrong signature.
  verdict = 0xa5;
  message.signature_bytes = 2419;
  job.operation = LC_ML_DSA_VERIFY;
  job.verdicts = &verdict;
  LANECRYPT_ASSERT_OK(lc_ml_dsa_run(context.get(), &job, nullptr));
  EXPECT_EQ(0, verdict);
  // The caller's random function fails.
  const Bytes seed(32);
  lc_ml_dsa_parts parts = parts_of(LC_ML_DSA_44);
  parts.seed = seed.data();
  parts.random = [](void *, void *, size_t) { return 0; };
  const Key unlucky = make_key(parts);
  message = good;
  message.key = unlucky.get();
  job = good_job;
  EXPECT_EQ(LC_ERROR_INTERNAL, lc_ml_dsa_run(context.get(), &job, nullptr));
  EXPECT_EQ(0u, lc_ml_dsa_bytes(lc_ml_dsa_set(1), LC_ML_DSA_SEED));
  EXPECT_EQ(0u, lc_ml_dsa_bytes(LC_ML_DSA_44, lc_ml_dsa_part(9)));
}

// A caller that reads only a verdict must not find that of an earlier job, or of a job that failed.
TEST(MlDsaJobs, ThatFailHaveNoVerdicts) {
  Bytes text(64), verdicts(2);
  const Key keys[] = {seeded_key(LC_ML_DSA_44, 1), seeded_key(LC_ML_DSA_65, 2)};
  std::vector<lc_ml_dsa_message> messages(2);
  std::vector<Bytes> signatures;
  Context none("none", LC_FALLBACK_CPU);
  MlDsaRun cpu(none.get(), LC_CPU);
  for (const size_t n : {0, 1}) {
    const lc_ml_dsa_set set = kSets[n];
    signatures.push_back(cpu.sign(set, keys[n].get(), text, LC_MESSAGE_PURE));
    messages[n].key = keys[n].get();
    messages[n].message = text.data();
    messages[n].message_bytes = text.size();
    messages[n].signature_bytes = signatures[n].size();
  }
  for (const size_t n : {0, 1}) messages[n].signature = signatures[n].data();
  const auto run = [&](lc_context *context, lc_ml_dsa_job job) {
    verdicts = {1, 1};
    job.messages = messages.data();
    job.message_count = messages.size();
    job.verdicts = verdicts.data();
    const lc_status status = lc_ml_dsa_run(context, &job, nullptr);
    EXPECT_EQ(status == LC_OK ? Bytes({1, 1}) : Bytes({0, 0}), verdicts) << status;
    return status;
  };
  lc_ml_dsa_job job = cpu.job(LC_ML_DSA_VERIFY, LC_MESSAGE_PURE);
  EXPECT_EQ(LC_OK, run(none.get(), job));
  EXPECT_EQ(LC_ERROR_ARGUMENT, run(nullptr, job));
  job.encoding = LC_MESSAGE_PRE_HASH;
  EXPECT_EQ(LC_ERROR_UNSUPPORTED, run(none.get(), job));
  // The sets go into two batches, of which the second fails.
  size_t lost = 0;
  for (const char *fault : {"lost-after:1", "lost-after:2", "lost-after:3", "lost-after:9"}) {
    SCOPED_TRACE(fault);
    const ScopedEnvironment variable("LANECRYPT_HOST_FAULT", fault);
    Context host("host", LC_FALLBACK_NONE);
    lost += run(host.get(), MlDsaRun(nullptr, 0).job(LC_ML_DSA_VERIFY, LC_MESSAGE_PURE)) ==
            LC_ERROR_DEVICE;
  }
  EXPECT_EQ(3u, lost);
  // An empty signature is a wrong one.
  messages.pop_back();
  messages[0].signature = nullptr;
  messages[0].signature_bytes = 0;
  job = cpu.job(LC_ML_DSA_VERIFY, LC_MESSAGE_PURE);
  job.messages = messages.data();
  job.message_count = 1;
  job.verdicts = verdicts.data();
  LANECRYPT_ASSERT_OK(lc_ml_dsa_run(none.get(), &job, nullptr));
  EXPECT_EQ(0, verdicts[0]);
}

// A child of fork has the parent's keys, and opens its own devices.
TEST(MlDsaFork, KeysLiveOn) {
  Context context("host", LC_FALLBACK_NONE);
  MlDsaRun run(context.get(), 0);
  const Key key = seeded_key(LC_ML_DSA_44, 5);
  const Bytes text(10, 1);
  const Bytes before = run.sign(LC_ML_DSA_44, key.get(), text, LC_MESSAGE_PURE);
  const pid_t child = fork();
  if (child == 0) _exit(run.sign(LC_ML_DSA_44, key.get(), text, LC_MESSAGE_PURE) == before ? 0 : 1);
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  EXPECT_EQ(before, run.sign(LC_ML_DSA_44, key.get(), text, LC_MESSAGE_PURE));
}

// Tickets of earlier jobs end in any order, while other callers submit jobs.
TEST(MlDsaTickets, EndByThemselves) {
  Context context("host", LC_FALLBACK_NONE);
  const Key key = seeded_key(LC_ML_DSA_44, 5);
  Bytes text(3, 1);
  std::vector<Bytes> signatures(5, Bytes(2420));
  std::vector<lc_ticket *> tickets;
  for (Bytes &signature : signatures) {
    lc_ml_dsa_message message{};
    message.key = key.get();
    message.message = text.data();
    message.message_bytes = text.size();
    message.signature = signature.data();
    message.signature_bytes = signature.size();
    lc_ml_dsa_job job = MlDsaRun(context.get(), 0).job(LC_ML_DSA_SIGN, LC_MESSAGE_PURE);
    job.messages = &message;
    job.message_count = 1;
    lc_ticket *ticket = nullptr;
    LANECRYPT_ASSERT_OK(lc_ml_dsa_submit(context.get(), &job, nullptr, &ticket));
    tickets.push_back(ticket);
    // The message was hashed before the call returned.
    text[0] = 9;
    text[0] = 1;
  }
  for (lc_ticket *ticket : tickets) {
    LANECRYPT_ASSERT_OK(lc_ticket_wait(ticket, nullptr));
    lc_ticket_free(ticket);
  }
  for (const Bytes &signature : signatures)
    EXPECT_TRUE(MlDsaRun(context.get(), 0).verify(key.get(), text, signature, LC_MESSAGE_PURE));
}

}  // namespace
}  // namespace lanecrypt::test
