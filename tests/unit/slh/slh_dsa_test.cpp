// SLH-DSA (FIPS 205) through the public C ABI, on the CPU and on every device: known answers of all
// sets, each interface, and what is refused.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/evp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <set>
#include <span>
#include <sstream>
#include <thread>

#include "cpu/slh/slh_message.h"
#include "unit/slh/slh_dsa_job.h"
#include "unit/support/devices.h"
#include "verify/slh_known_answers.h"

namespace lanecrypt::test {
namespace {

std::string hex(const SlhBytes &bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

SlhBytes unhex(const std::string &text) {
  SlhBytes bytes;
  for (size_t at = 0; text != "-" && at + 1 < text.size(); at += 2)
    bytes.push_back(uint8_t(std::stoul(text.substr(at, 2), nullptr, 16)));
  return bytes;
}

SlhBytes digest_of(const SlhBytes &bytes, const EVP_MD *hash) {
  SlhBytes digest(EVP_MAX_MD_SIZE);
  unsigned size = 0;
  EXPECT_EQ(1, EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, hash, nullptr));
  digest.resize(size);
  return digest;
}

std::string sha256_of(const SlhBytes &bytes) { return hex(digest_of(bytes, EVP_sha256())); }

uint32_t set_named(const std::string &name) {
  for (uint32_t set = 0; lc_slh_dsa_name(lc_slh_dsa_set(set)) != nullptr; ++set)
    if (slh_name(set) == name) return set;
  ADD_FAILURE() << name;
  return 0;
}

SlhBytes bytes_of(std::string_view text) { return SlhBytes(text.begin(), text.end()); }

// Returns the devices, and the CPU as another one with the id "cpu".
std::vector<DeviceCase> everywhere() {
  std::vector<DeviceCase> all = devices_under_test();
  std::erase_if(all, [](const DeviceCase &device) { return device.is_gl(); });
  all.push_back({.id = "cpu", .form = "", .is_gpu = false, .absent = false});
  return all;
}

class SlhDsa : public testing::TestWithParam<DeviceCase> {
 protected:
  void SetUp() override {
    if (GetParam().absent) GTEST_SKIP() << "there is no " << GetParam().id;
    const bool is_cpu = GetParam().id == "cpu";
    context_ = std::make_unique<Context>(is_cpu ? "none" : GetParam().id.c_str(),
                                         is_cpu ? LC_FALLBACK_CPU : LC_FALLBACK_NONE);
    runner_ = std::make_unique<SlhRunner>(context_->get(), is_cpu ? LC_CPU : 0);
  }
  // Checks that all operations ran where they should.
  void TearDown() override {
    if (runner_ == nullptr) return;
    const bool is_cpu = GetParam().id == "cpu";
    EXPECT_EQ(0u, is_cpu ? runner_->done.device_operations : runner_->done.cpu_operations);
    EXPECT_EQ(0u, runner_->done.failed_checks + runner_->done.failed_devices);
  }
  // Whether a set is tested: the small sets always, and the others if they take less than a few
  // seconds. With a scale below 1, as with sanitizers, SHAKE's small sets stand for its other ones.
  bool takes(uint32_t set) const {
    const bool is_shake = std::string(slh_name(set)).find("SHAKE") != std::string::npos;
    if (!is_slow_set(set) || GetParam().is_gpu) return true;
    return GetParam().id == "cpu" && (!is_shake || (wants_every_case() && !is_scaled_down()));
  }
  SlhRunner &run() { return *runner_; }

  std::unique_ptr<Context> context_;
  std::unique_ptr<SlhRunner> runner_;
};

TEST_P(SlhDsa, KnownAnswers) {
  uint64_t operations = 0;
  const SlhBytes message = bytes_of(verify::kSlhMessage);
  for (const verify::SlhKnownAnswer &answer : verify::slh_known_answers()) {
    const uint32_t set = set_named("SLH-DSA-" + std::string(answer.set));
    if (!takes(set)) continue;
    SCOPED_TRACE(answer.set);
    const SlhBytes bytes = run().make_key(set, slh_seeds(set, 0));
    ASSERT_EQ(answer.root, hex(SlhBytes(bytes.end() - ptrdiff_t(slh_n(set)), bytes.end())));
    const SlhKeyHandle key = slh_key(set, bytes);
    const SlhKeyHandle to_verify =
        slh_key(set, SlhBytes(bytes.begin() + ptrdiff_t(2 * slh_n(set)), bytes.end()));
    SlhBytes made = run().sign(set, key, message);
    EXPECT_EQ(answer.signature_sha256, sha256_of(made));
    EXPECT_TRUE(run().is_valid(to_verify, message, made));
    EXPECT_FALSE(run().is_valid(to_verify, bytes_of("Lanecrypt signs that."), made));
    // Changes a bit of each part: of R, of FORS, of a chain, of the last path.
    for (const size_t at : {size_t{0}, slh_n(set), made.size() / 2, made.size() - 1}) {
      made[at] ^= 1;
      EXPECT_FALSE(run().is_valid(to_verify, message, made)) << "byte " << at;
      made[at] ^= 1;
    }
    operations += 8;
  }
  EXPECT_EQ(operations, run().done.device_operations + run().done.cpu_operations);
}

// NIST's vectors of the internal interface.
TEST_P(SlhDsa, Vectors) {
  std::ifstream file(std::string(LANECRYPT_VECTORS) + "/slh_dsa_acvp.txt");
  ASSERT_TRUE(file.good());
  run().job.encoding = LC_MESSAGE_RAW;
  uint32_t set = 0;
  uint64_t cases = 0;
  std::set<std::string> seen;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what, id, a, b, c, d;
    words >> what >> id >> a >> b >> c >> d;
    if (what == "set") set = set_named(id);
    if ((what != "key" && what != "sign") || !takes(set)) continue;
    // The emulator takes a second for one case of some sets.
    if (!GetParam().is_gpu && !seen.insert(slh_name(set) + what + (b == "-" ? b : "")).second)
      continue;
    SCOPED_TRACE(std::string(slh_name(set)) + " " + what + " " + id);
    if (what == "key") {
      EXPECT_EQ(a + b, hex(run().make_key(set, unhex(a))));
    } else {
      run().additional_random = unhex(b);
      const SlhKeyHandle key = slh_key(set, unhex(a));
      const SlhBytes made = run().sign(set, key, unhex(c));
      EXPECT_EQ(d, sha256_of(made));
      EXPECT_TRUE(run().is_valid(key, unhex(c), made));
      ++cases;
    }
  }
  EXPECT_LE(5u, cases);
}

// NIST's vectors of verification: a right signature, and ones with R, FORS or the hypertree
// changed.
TEST_P(SlhDsa, VectorsOfVerification) {
  std::ifstream file(std::string(LANECRYPT_VECTORS) + "/slh_dsa_acvp.txt");
  ASSERT_TRUE(file.good());
  run().job.encoding = LC_MESSAGE_RAW;
  uint32_t set = 0;
  size_t right = 0, wrong = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what, id, key, message, signature, verdict;
    words >> what >> id >> key >> message >> signature >> verdict;
    if (what == "set") set = set_named(id);
    if (what != "verify") continue;
    EXPECT_EQ(verdict == "right",
              run().is_valid(slh_key(set, unhex(key)), unhex(message), unhex(signature)))
        << id;
    ++(verdict == "right" ? right : wrong);
  }
  EXPECT_EQ(1u, right);
  EXPECT_EQ(3u, wrong);
}

// A caller that has hashed the message itself gets the same signature.
TEST_P(SlhDsa, ADigestThatTheCallerHasMade) {
  const SlhBytes message = bytes_of("a message");
  for (const uint32_t set : {uint32_t(LC_SLH_DSA_SHA2_128F), uint32_t(LC_SLH_DSA_SHAKE_128F),
                             uint32_t(LC_SLH_DSA_SHA2_192F)}) {
    SCOPED_TRACE(slh_name(set));
    const SlhBytes bytes = run().make_key(set, slh_seeds(set, 3));
    const SlhKeyHandle key = slh_key(set, bytes);
    run().job.encoding = LC_MESSAGE_RAW;
    const SlhBytes expected = run().sign(set, key, message);
    const size_t n = slh_n(set);
    SlhBytes hashed(expected.begin(), expected.begin() + ptrdiff_t(n));
    const std::span<const uint8_t> all(bytes);
    hashed.resize(n + find_slh_set(set)->digest_bytes());
    ASSERT_TRUE(
        cpu::slh_digest(
            *find_slh_set(set),
            {.sk_seed = {}, .sk_prf = {}, .pk_seed = all.subspan(2 * n, n), .pk_root = all.last(n)},
            std::span(expected).first(n), {.head = {}, .rest = message},
            std::span(hashed).subspan(n))
            .ok());
    // A key without SK.prf, and a job that would draw random numbers, give the same signature.
    SlhBytes without = bytes;
    std::fill_n(without.begin() + ptrdiff_t(n), n, uint8_t{0});
    run().job.encoding = LC_MESSAGE_DIGEST;
    run().job.deterministic = 0;
    EXPECT_EQ(expected, run().sign(set, slh_key(set, without), hashed));
    run().job.deterministic = 1;
  }
}

// The encoding of the message: a raw message that is encoded here must give the same signature.
TEST_P(SlhDsa, ContextAndPreHash) {
  const uint32_t set = LC_SLH_DSA_SHA2_128F;
  const SlhKeyHandle key = slh_key(set, run().make_key(set, slh_seeds(set, 9)));
  const SlhBytes message = bytes_of("a message");
  const struct {
    lc_pre_hash hash;
    const EVP_MD *same;
  } hashes[] = {{LC_PRE_HASH_NONE, nullptr},
                {LC_PRE_HASH_SHA2_256, EVP_sha256()},
                {LC_PRE_HASH_SHA2_384, EVP_sha384()},
                {LC_PRE_HASH_SHA2_512, EVP_sha512()},
                {LC_PRE_HASH_SHA2_224, EVP_sha224()},
                {LC_PRE_HASH_SHA2_512_224, EVP_sha512_224()},
                {LC_PRE_HASH_SHA2_512_256, EVP_sha512_256()},
                {LC_PRE_HASH_SHA3_224, EVP_sha3_224()},
                {LC_PRE_HASH_SHA3_256, EVP_sha3_256()},
                {LC_PRE_HASH_SHA3_384, EVP_sha3_384()},
                {LC_PRE_HASH_SHA3_512, EVP_sha3_512()}};
  for (const auto &[hash, same] : hashes) {
    SCOPED_TRACE(hash);
    for (const size_t context_bytes : {size_t{0}, size_t{255}}) {
      const SlhBytes context(context_bytes, 0x5c);
      SlhBytes encoded = {uint8_t(same != nullptr ? 1 : 0), uint8_t(context_bytes)};
      encoded.insert(encoded.end(), context.begin(), context.end());
      if (same != nullptr) {
        for (const uint8_t byte : {0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02})
          encoded.push_back(byte);
        encoded.push_back(uint8_t(hash));
      }
      const SlhBytes rest = same == nullptr ? message : digest_of(message, same);
      encoded.insert(encoded.end(), rest.begin(), rest.end());

      run().job.encoding = same != nullptr ? LC_MESSAGE_PRE_HASH : LC_MESSAGE_PURE;
      run().job.hash = hash;
      run().context_string = context;
      const SlhBytes made = run().sign(set, key, message);
      EXPECT_TRUE(run().is_valid(key, message, made));
      if (context_bytes != 0) {
        run().context_string.back() ^= 1;
        EXPECT_FALSE(run().is_valid(key, message, made));
      }
      run().job.encoding = LC_MESSAGE_RAW;
      run().job.hash = LC_PRE_HASH_NONE;
      run().context_string.clear();
      EXPECT_EQ(made, run().sign(set, key, encoded));
      EXPECT_TRUE(run().is_valid(key, encoded, made));
    }
  }
}

// The digests of SHAKE128 and SHAKE256 have 32 and 64 bytes.
TEST_P(SlhDsa, PreHashByShake) {
  const uint32_t set = LC_SLH_DSA_SHAKE_128F;
  const SlhKeyHandle key = slh_key(set, run().make_key(set, slh_seeds(set, 9)));
  const SlhBytes message = bytes_of("a message");
  for (const auto &[hash, same, bytes] :
       {std::tuple(LC_PRE_HASH_SHAKE_128, EVP_shake128(), size_t{32}),
        {LC_PRE_HASH_SHAKE_256, EVP_shake256(), size_t{64}}}) {
    SlhBytes encoded = {1,    0,    0x06, 0x09, 0x60, 0x86,         0x48,
                        0x01, 0x65, 0x03, 0x04, 0x02, uint8_t(hash)};
    encoded.resize(encoded.size() + bytes);
    const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX *)> hashing(EVP_MD_CTX_new(),
                                                                      EVP_MD_CTX_free);
    ASSERT_EQ(1, EVP_DigestInit_ex(hashing.get(), same, nullptr));
    ASSERT_EQ(1, EVP_DigestUpdate(hashing.get(), message.data(), message.size()));
    ASSERT_EQ(1, EVP_DigestFinalXOF(hashing.get(), encoded.data() + 13, bytes));
    run().job.encoding = LC_MESSAGE_PRE_HASH;
    run().job.hash = hash;
    const SlhBytes made = run().sign(set, key, message);
    run().job.encoding = LC_MESSAGE_RAW;
    run().job.hash = LC_PRE_HASH_NONE;
    EXPECT_EQ(made, run().sign(set, key, encoded));
  }
}

// Hedged signatures differ, and so do keys that are made without given seeds.
TEST_P(SlhDsa, RandomNumbers) {
  const uint32_t set = LC_SLH_DSA_SHA2_128F;
  const SlhBytes one = run().make_key(set, {}), two = run().make_key(set, {});
  EXPECT_NE(one, two);
  const SlhKeyHandle key = slh_key(set, one);
  const SlhBytes message = bytes_of("a message");
  run().job.deterministic = 0;
  const std::vector<SlhBytes> made = run().sign(set, {key.get(), key.get(), key.get()}, message);
  EXPECT_EQ(3u, std::set<SlhBytes>(made.begin(), made.end()).size());
  EXPECT_EQ((SlhBytes{1, 1, 1}), run().verify({key.get(), key.get(), key.get()}, message, made));
  // addrnd determines the signature, and addrnd = PK.seed makes it the deterministic one.
  run().additional_random =
      SlhBytes(one.begin() + ptrdiff_t(2 * slh_n(set)), one.begin() + ptrdiff_t(3 * slh_n(set)));
  const SlhBytes given = run().sign(set, key, message);
  run().additional_random.clear();
  run().job.deterministic = 1;
  EXPECT_EQ(given, run().sign(set, key, message));
}

// Many keys in one job. One has a wrong root, so that all its signatures would be wrong. The job
// fails, and the signature of that key is not written.
TEST_P(SlhDsa, ABatchOfManyKeys) {
  const uint32_t set = LC_SLH_DSA_SHA2_192F;
  std::vector<SlhKeyHandle> keys;
  std::vector<const lc_slh_dsa_key *> plain;
  for (uint8_t n = 0; n < 5; ++n) {
    keys.push_back(slh_key(set, run().make_key(set, slh_seeds(set, uint8_t(7 * n)))));
    plain.push_back(keys.back().get());
  }
  const SlhBytes message;
  std::vector<SlhBytes> made = run().sign(set, plain, message);
  for (size_t n = 0; n < keys.size(); ++n)
    EXPECT_EQ(made[n], run().sign(set, keys[n], message)) << n;
  std::swap(made[1], made[3]);
  made[4].pop_back();
  EXPECT_EQ((SlhBytes{1, 0, 1, 0, 0}), run().verify(plain, message, made));
}

// One job makes several keys from the same seeds, so all are the same.
TEST_P(SlhDsa, ABatchOfNewKeys) {
  const uint32_t set = LC_SLH_DSA_SHA2_256F;
  EXPECT_EQ(run().make_key(set, slh_seeds(set, 3)), run().make_key(set, slh_seeds(set, 3), 6));
  run().make_key(set, {}, 6);
}

// Many threads with one context and one key, each of which makes single signatures.
TEST_P(SlhDsa, ManyThreads) {
  const uint32_t set = LC_SLH_DSA_SHA2_128F;
  const SlhKeyHandle key = slh_key(set, run().make_key(set, slh_seeds(set, 9)));
  constexpr int kThreads = 6, kEach = 3;
  std::atomic<uint64_t> right = 0;
  std::vector<std::thread> threads;
  for (int n = 0; n < kThreads; ++n)
    threads.emplace_back([&, n] {
      SlhRunner mine(context_->get(), GetParam().id == "cpu" ? LC_CPU : 0);
      mine.job.deterministic = 0;
      for (int i = 0; i < kEach; ++i) {
        const SlhBytes message(size_t(10 * n + i), uint8_t(n));
        const SlhBytes made = mine.sign(set, key, message);
        if (mine.is_valid(key, message, made)) ++right;
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(uint64_t{kThreads * kEach}, right);
}

// A child continues with the key and the context of its parent.
TEST_P(SlhDsa, AChildOfFork) {
  if (GetParam().is_gpu || GetParam().is_opencl_on_cpu())
    GTEST_SKIP() << "a driver that was loaded before fork() may not be used";
  const uint32_t set = LC_SLH_DSA_SHA2_128F;
  const SlhKeyHandle key = slh_key(set, run().make_key(set, slh_seeds(set, 9)));
  const SlhBytes message = bytes_of("a message");
  const SlhBytes made = run().sign(set, key, message);
  const pid_t child = fork();
  if (child == 0) {
    SlhRunner mine(context_->get(), GetParam().id == "cpu" ? LC_CPU : 0);
    const bool is_right = mine.sign(set, key, message) == made && mine.is_valid(key, message, made);
    _exit(is_right && mine.done.device_operations + mine.done.cpu_operations == 2 ? 0 : 1);
  }
  ASSERT_LT(0, child);
  int status = 0;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

INSTANTIATE_TEST_SUITE_P(Everywhere, SlhDsa, testing::ValuesIn(everywhere()), device_case_name);

TEST(SlhDsaKey, SizesOfTheStandard) {
  const size_t bytes[] = {7856, 17088, 16224, 35664, 29792, 49856};
  for (uint32_t set = 0; set < 12; ++set) {
    EXPECT_EQ(bytes[set % 6], lc_slh_dsa_signature_bytes(lc_slh_dsa_set(set))) << set;
    EXPECT_EQ(16 + 8 * (set % 6 / 2), lc_slh_dsa_hash_bytes(lc_slh_dsa_set(set))) << set;
  }
  EXPECT_EQ(nullptr, lc_slh_dsa_name(lc_slh_dsa_set(12)));
  EXPECT_EQ(0u, lc_slh_dsa_signature_bytes(lc_slh_dsa_set(12)));
}

TEST(SlhDsaKey, WrongParts) {
  const SlhBytes bytes(64, 7), other(32, 8);
  const auto status_of = [&](uint32_t set, size_t private_bytes, const SlhBytes *with) {
    lc_slh_dsa_parts parts{};
    parts.struct_size = sizeof parts;
    parts.set = lc_slh_dsa_set(set);
    if (private_bytes != 0) parts.private_key = bytes.data();
    parts.private_key_bytes = private_bytes;
    if (with != nullptr) parts.public_key = with->data();
    parts.public_key_bytes = with == nullptr ? 0 : with->size();
    lc_slh_dsa_key *key = nullptr;
    const lc_status status = lc_slh_dsa_key_new(&parts, &key);
    EXPECT_EQ(status == LC_OK, key != nullptr);
    lc_slh_dsa_key_free(key);
    return status;
  };
  const SlhBytes same(32, 7);
  EXPECT_EQ(LC_OK, status_of(0, 64, nullptr));
  EXPECT_EQ(LC_OK, status_of(0, 64, &same));
  EXPECT_EQ(LC_OK, status_of(0, 0, &same));
  EXPECT_EQ(LC_ERROR_ARGUMENT, status_of(0, 64, &other));
  EXPECT_EQ(LC_ERROR_ARGUMENT, status_of(0, 63, nullptr));
  EXPECT_EQ(LC_ERROR_ARGUMENT, status_of(2, 64, nullptr));
  EXPECT_EQ(LC_ERROR_ARGUMENT, status_of(12, 64, nullptr));
  EXPECT_EQ(LC_ERROR_ARGUMENT, status_of(0, 0, nullptr));
}

class SlhDsaJob : public testing::Test {
 protected:
  lc_status status() {
    job_.messages = &message_;
    job_.message_count = 1;
    return lc_slh_dsa_run(context_.get(), &job_, nullptr);
  }
  void refused(const char *what) { EXPECT_EQ(LC_ERROR_ARGUMENT, status()) << what; }

  Context context_{"none", LC_FALLBACK_CPU};
  const SlhKeyHandle private_ = slh_key(LC_SLH_DSA_SHA2_128F, SlhBytes(64, 1));
  const SlhKeyHandle public_ = slh_key(LC_SLH_DSA_SHA2_128F, SlhBytes(32, 1));
  SlhBytes signature_ = SlhBytes(17088, 0xa5);
  lc_slh_dsa_job job_ = SlhRunner(nullptr, LC_CPU).job;
  lc_slh_dsa_message message_{.key = private_.get(),
                              .message = "m",
                              .message_bytes = 1,
                              .context = nullptr,
                              .context_bytes = 0,
                              .additional_random = nullptr,
                              .signature = signature_.data(),
                              .signature_bytes = signature_.size()};
};

TEST_F(SlhDsaJob, IsRefused) {
  const lc_slh_dsa_job good_job = job_;
  const lc_slh_dsa_message good = message_;
  const auto again = [&] {
    job_ = good_job;
    message_ = good;
  };
  message_.key = public_.get();
  refused("a public key signs");
  again();
  message_.key = nullptr;
  refused("no key");
  again();
  message_.signature_bytes = signature_.size() - 1;
  refused("too little room");
  again();
  const SlhBytes context(256);
  message_.context = context.data();
  message_.context_bytes = context.size();
  refused("a long context string");
  message_.context_bytes = 1;
  job_.encoding = LC_MESSAGE_RAW;
  refused("a raw message with a context string");
  again();
  job_.encoding = LC_MESSAGE_PRE_HASH;
  refused("no hash");
  job_.hash = lc_pre_hash(13);
  refused("an unknown hash");
  again();
  job_.hash = LC_PRE_HASH_SHA2_256;
  refused("a hash for a pure message");
  again();
  for (const int unknown : {3, 5}) {
    job_.encoding = lc_message_encoding(unknown);
    refused("an unknown encoding");
  }
  again();
  const SlhBytes hashed(16 + 34);
  message_.message = hashed.data();
  job_.encoding = LC_MESSAGE_DIGEST;
  for (const size_t bytes : {size_t{0}, hashed.size() - 1, hashed.size() + 1}) {
    message_.message_bytes = bytes;
    refused("a digest of another length");
  }
  message_.message_bytes = hashed.size();
  message_.additional_random = hashed.data();
  refused("random numbers beside a digest");
  message_.additional_random = nullptr;
  message_.context = context.data();
  message_.context_bytes = 1;
  refused("a context string beside a digest");
  message_.context_bytes = 0;
  job_.operation = LC_SLH_DSA_VERIFY;
  uint8_t verdict = 1;
  job_.verdicts = &verdict;
  refused("a digest to verify");
  again();
  job_.operation = LC_SLH_DSA_GENERATE;
  refused("no operation of a job");
  again();
  job_.operation = LC_SLH_DSA_VERIFY;
  refused("no verdicts");
  again();
  message_.message = nullptr;
  refused("no message");
  again();
  job_.struct_size -= 1;
  refused("struct_size");
  EXPECT_EQ(SlhBytes(17088, 0xa5), signature_);
}

// A caller that reads only a verdict must not find that of an earlier job.
TEST_F(SlhDsaJob, ThatIsRefusedHasNoVerdicts) {
  job_.operation = LC_SLH_DSA_VERIFY;
  const lc_slh_dsa_job good = job_;
  uint8_t verdict = 1;
  const auto refused_without_verdict = [&](const char *what, lc_context *context) {
    verdict = 1;
    job_.verdicts = &verdict;
    job_.messages = &message_;
    job_.message_count = 1;
    EXPECT_EQ(LC_ERROR_ARGUMENT, lc_slh_dsa_run(context, &job_, nullptr)) << what;
    EXPECT_EQ(0, verdict) << what;
    job_ = good;
  };
  refused_without_verdict("no context", nullptr);
  job_.encoding = lc_message_encoding(3);
  refused_without_verdict("an unknown encoding", context_.get());
  job_.message_size = 8;
  refused_without_verdict("a small message_size", context_.get());
  job_.device = 7;
  refused_without_verdict("no such device", context_.get());
  message_.key = nullptr;
  refused_without_verdict("no key", context_.get());
}

// PK.root does not belong to the seeds.
TEST_F(SlhDsaJob, WritesNoWrongSignature) {
  EXPECT_EQ(LC_ERROR_INTERNAL, status());
  EXPECT_EQ(SlhBytes(17088, 0xa5), signature_);
}

}  // namespace
}  // namespace lanecrypt::test
