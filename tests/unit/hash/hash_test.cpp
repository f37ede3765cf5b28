// Hashes on every device: digests of all lengths around block boundaries, compared with OpenSSL,
// the known answers, and the library's CPU code; unaligned messages, device memory, wrong
// arguments.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "unit/support/devices.h"
#include "unit/support/random_bytes.h"

namespace lanecrypt::test {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kLeaf = 300;
constexpr char kText[] = "a text";

struct Named {
  lc_hash hash;
  const char *openssl;  // nullptr: OpenSSL lacks it
  uint32_t block, digest;
};

constexpr Named kAll[] = {
    {LC_SHA_224, "SHA2-224", 64, 28},
    {LC_SHA_256, "SHA2-256", 64, 32},
    {LC_SHA_384, "SHA2-384", 128, 48},
    {LC_SHA_512, "SHA2-512", 128, 64},
    {LC_SHA3_224, "SHA3-224", 144, 28},
    {LC_SHA3_256, "SHA3-256", 136, 32},
    {LC_SHA3_384, "SHA3-384", 104, 48},
    {LC_SHA3_512, "SHA3-512", 72, 64},
    {LC_SHAKE_128, "SHAKE128", 168, 32},
    {LC_SHAKE_256, "SHAKE256", 136, 64},
    {LC_BLAKE3, nullptr, 1024, 32},
    {LC_BLAKE3_KEYED, nullptr, 1024, 32},
    {LC_BLAKE3_DERIVE_KEY, nullptr, 1024, 32},
    {LC_MERKLE_SHA_256, nullptr, kLeaf, 32},
    {LC_PARALLEL_HASH_128, nullptr, kLeaf, 32},
    {LC_PARALLEL_HASH_256, nullptr, kLeaf, 64},
    {LC_PARALLEL_HASH_XOF_128, nullptr, kLeaf, 32},
    {LC_PARALLEL_HASH_XOF_256, nullptr, kLeaf, 64},
};

// Whether this is the first hash in the list that uses its kernels.
bool is_first_of_kernel(const Named &named) {
  return named.hash == LC_SHA_224 || named.hash == LC_SHA_384 || named.hash == LC_SHA3_224 ||
         named.hash == LC_BLAKE3 || named.hash == LC_MERKLE_SHA_256 ||
         named.hash == LC_PARALLEL_HASH_128;
}

bool is_tree(const Named &named) { return named.openssl == nullptr; }

Bytes openssl_digest(const Named &named, const uint8_t *message, size_t length, size_t bytes) {
  Bytes digest(bytes);
  const std::unique_ptr<EVP_MD, void (*)(EVP_MD *)> method(
      EVP_MD_fetch(nullptr, named.openssl, nullptr), EVP_MD_free);
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX *)> context(EVP_MD_CTX_new(),
                                                                    EVP_MD_CTX_free);
  EXPECT_EQ(1, EVP_DigestInit_ex2(context.get(), method.get(), nullptr));
  EXPECT_EQ(1, EVP_DigestUpdate(context.get(), message, length));
  const bool any_length = named.hash == LC_SHAKE_128 || named.hash == LC_SHAKE_256;
  EXPECT_EQ(1, any_length ? EVP_DigestFinalXOF(context.get(), digest.data(), bytes)
                          : EVP_DigestFinal_ex(context.get(), digest.data(), nullptr));
  return digest;
}

// The messages of one job, adjacent in memory, and their digests.
struct Messages {
  Messages(const Named &named, const std::vector<size_t> &wanted, Random &random,
           uint64_t digest_bytes = 0, size_t gap = 0)
      : hash(named), bytes(digest_bytes == 0 ? named.digest : digest_bytes), given(digest_bytes) {
    for (const size_t length : wanted) {
      places.push_back(text.size() + gap);
      text.resize(text.size() + gap + length);
      lengths.push_back(length);
    }
    random.fill(text.data(), text.size());
    digests.resize(lengths.size() * bytes + 1);
    std::iota(key, key + sizeof key, uint8_t{7});
  }
  lc_hash_job job(uint32_t device) { return job_at(device, text.data(), digests.data()); }
  lc_hash_job job_at(uint32_t device, uint8_t *in, uint8_t *out) {
    list.clear();
    for (size_t n = 0; n < places.size(); ++n)
      list.push_back({in + places[n], lengths[n], out + n * bytes});
    lc_hash_job job = {};
    job.struct_size = sizeof job;
    job.hash = hash.hash;
    job.device = device;
    job.has_device = 1;
    job.messages = list.data();
    job.message_count = list.size();
    job.message_size = sizeof(lc_hash_message);
    job.digest_bytes = given;
    if (hash.block == kLeaf) job.leaf_bytes = kLeaf;
    if (hash.hash == LC_BLAKE3_KEYED) {
      job.key = key;
      job.key_bytes = sizeof key;
    }
    if (hash.hash == LC_BLAKE3_DERIVE_KEY || hash.hash >= LC_PARALLEL_HASH_128) {
      job.text = kText;
      job.text_bytes = sizeof kText - 1;
    }
    return job;
  }
  Bytes digest(size_t n) const {
    const auto at = digests.begin() + ptrdiff_t(n * bytes);
    return {at, at + ptrdiff_t(bytes)};
  }
  uint64_t all_bytes() const {
    return std::accumulate(lengths.begin(), lengths.end(), uint64_t{0});
  }

  const Named hash;
  const size_t bytes;
  const uint64_t given;
  std::vector<size_t> places, lengths;
  std::vector<lc_hash_message> list;
  Bytes text, digests;
  uint8_t key[32];
};

// Returns lengths around the special lengths of a hash.
std::vector<size_t> lengths_of(const Named &named) {
  std::vector<size_t> lengths = {0, 1, 2, 3, 4, 7, 8, 15, 16, 17};
  for (const size_t multiple : {1, 2, 3, 4, 5, 7, 8, 9, 64, 65}) {
    const size_t end = multiple * named.block;
    for (size_t length = end < 20 ? 0 : end - 20; length <= end + 2; ++length)
      if (length + 2 >= end || multiple <= 2) lengths.push_back(length);
  }
  return lengths;
}

class Hashes : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (GetParam().is_gl()) GTEST_SKIP() << "OpenGL has no kernels of hashes";
  }
  void run(const lc_hash_job &job, uint64_t bytes) {
    lc_result result = {};
    result.struct_size = sizeof result;
    LANECRYPT_ASSERT_OK(lc_hash_run(context(), &job, &result));
    expect_done(job.message_count != 0, bytes);
    EXPECT_EQ(bytes, result.device_bytes);
    EXPECT_EQ(job.message_count, result.device_operations);
    EXPECT_EQ(0u, result.cpu_bytes);
  }
  // Compares with the CPU's digests, and with OpenSSL's if it has the hash.
  void check(Messages &messages) {
    Messages right = messages;
    right.digests.assign(right.digests.size(), 0);
    const lc_hash_job job = right.job(LC_CPU);
    Context cpu("none", LC_FALLBACK_CPU);
    LANECRYPT_ASSERT_OK(lc_hash_run(cpu.get(), &job, nullptr));
    for (size_t n = 0; n < right.lengths.size(); ++n) {
      ASSERT_EQ(right.digest(n), messages.digest(n)) << "of " << right.lengths[n] << " bytes";
      if (!is_tree(messages.hash)) {
        ASSERT_EQ(openssl_digest(messages.hash, right.text.data() + right.places[n],
                                 right.lengths[n], right.bytes),
                  messages.digest(n));
      }
    }
  }
};

TEST_P(Hashes, AllLengthsAroundBlocks) {
  Random random(1);
  for (const Named &named : kAll) {
    SCOPED_TRACE(testing::Message() << "hash " << named.hash);
    Messages messages(named, lengths_of(named), random);
    run(messages.job(0), messages.all_bytes());
    check(messages);
  }
}

TEST_P(Hashes, DigestsOfAnyLength) {
  Random random(2);
  for (const Named &named : kAll) {
    if (named.hash < LC_SHAKE_128 || named.hash == LC_MERKLE_SHA_256) continue;
    for (const uint64_t bytes : {1, 31, 33, 64, 65, 168, 169, 1000}) {
      SCOPED_TRACE(testing::Message() << "hash " << named.hash << ", " << bytes << " bytes");
      Messages messages(named, {0, 5, 1024, 1025, 50000}, random, bytes);
      run(messages.job(0), messages.all_bytes());
      check(messages);
    }
  }
}

// Parts of a message go to the device one after the other.
TEST_P(Hashes, LongerThanAChunk) {
  Random random(3);
  const size_t most = GetParam().is_gpu ? size_t{40} << 20 : size_t{18} << 20;
  for (const Named &named : kAll) {
    if (!GetParam().is_gpu && !is_first_of_kernel(named)) continue;
    SCOPED_TRACE(testing::Message() << "hash " << named.hash);
    Messages messages(named, {most + 1, 100, 5000, 70000}, random);
    run(messages.job(0), messages.all_bytes());
    check(messages);
  }
}

TEST_P(Hashes, ManySmall) {
  Random random(4);
  for (const Named &named : {kAll[1], kAll[10], kAll[5]}) {
    std::vector<size_t> lengths(is_quick() ? 20000 : scaled(200000));
    for (size_t &length : lengths) length = random.below(40);
    Messages messages(named, lengths, random);
    run(messages.job(0), messages.all_bytes());
    check(messages);
  }
}

TEST_P(Hashes, NoMessages) {
  Random random(5);
  Messages none(kAll[1], {}, random);
  run(none.job(0), 0);
}

// Device memory, at every address modulo 16, with digests at scattered addresses.
TEST_P(Hashes, MemoryOfTheDevice) {
  Random random(6);
  for (const Named &named : kAll) {
    for (const lc_memory digests : {LC_MEMORY_HOST, LC_MEMORY_DEVICE}) {
      if (digests == LC_MEMORY_DEVICE && named.hash >= LC_PARALLEL_HASH_128) continue;
      for (size_t gap = 0; gap < 16; gap += GetParam().is_gpu ? 1 : 5) {
        SCOPED_TRACE(testing::Message() << "hash " << named.hash << ", gap " << gap);
        Messages messages(named, {0, 1, 63, 64, 1000, 1024, 5000, 200000, 700000}, random, 0, gap);
        void *memory = nullptr;
        const uint64_t out_at = messages.text.size() + 3;
        LANECRYPT_ASSERT_OK(
            lc_alloc_device(context(), 0, out_at + messages.digests.size(), &memory));
        auto *const in = static_cast<uint8_t *>(memory), *const out = in + out_at;
        LANECRYPT_ASSERT_OK(
            lc_copy_to_device(context(), 0, in, messages.text.data(), messages.text.size()));
        const bool here = digests == LC_MEMORY_HOST;
        lc_hash_job job = messages.job_at(LC_ANY_DEVICE, in, here ? messages.digests.data() : out);
        job.memory = LC_MEMORY_DEVICE;
        job.digest_memory = digests;
        run(job, messages.all_bytes());
        if (!here) {
          LANECRYPT_ASSERT_OK(lc_copy_from_device(context(), 0, messages.digests.data(), out,
                                                  messages.digests.size() - 1));
        }
        LANECRYPT_ASSERT_OK(lc_free_device(context(), 0, memory));
        check(messages);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Hashes, testing::ValuesIn(devices_under_test()),
                         device_case_name);

// Kernels whose threads cooperate, on an emulator with several threads per thread block.
TEST(HashThreads, WorkTogether) {
  const ScopedEnvironment threads("LANECRYPT_HOST_THREADS", "8");
  Context context("host", LC_FALLBACK_NONE), cpu("none", LC_FALLBACK_CPU);
  Random random(9);
  for (const Named &named : {kAll[0], kAll[1], kAll[10], kAll[13]}) {
    SCOPED_TRACE(testing::Message() << "hash " << named.hash);
    Messages messages(named, {20000, 4096, 63, 0, 9001}, random), right = messages;
    const lc_hash_job job = messages.job(0), by_cpu = right.job(LC_CPU);
    LANECRYPT_ASSERT_OK(lc_hash_run(context.get(), &job, nullptr));
    LANECRYPT_ASSERT_OK(lc_hash_run(cpu.get(), &by_cpu, nullptr));
    EXPECT_EQ(right.digests, messages.digests);
  }
}

// ---- Without a device ------------------------------------------------------

class HashArguments : public testing::Test {
 protected:
  void expect_wrong(const lc_hash_job &job, const char *says,
                    lc_status status = LC_ERROR_ARGUMENT) {
    EXPECT_EQ(status, lc_hash_run(context_.get(), &job, nullptr));
    EXPECT_NE(std::string::npos, std::string(lc_last_error()).find(says)) << lc_last_error();
  }
  Context context_{"none", LC_FALLBACK_CPU};
  Random random_{7};
};

TEST_F(HashArguments, AreChecked) {
  Messages messages(kAll[1], {10}, random_);
  const lc_hash_job good = messages.job(LC_CPU);
  LANECRYPT_ASSERT_OK(lc_hash_run(context_.get(), &good, nullptr));
  lc_hash_job bad = good;
  bad.struct_size = sizeof bad - 1;
  expect_wrong(bad, "struct_size");
  bad = good;
  bad.hash = static_cast<lc_hash>(18);
  expect_wrong(bad, "unknown hash");
  bad = good;
  bad.digest_bytes = 31;
  expect_wrong(bad, "has 32 bytes");
  bad = good;
  bad.leaf_bytes = 1;
  expect_wrong(bad, "no leaf_bytes");
  bad = good;
  bad.hash = LC_MERKLE_SHA_256;
  expect_wrong(bad, "needs leaf_bytes");
  bad = good;
  bad.hash = LC_BLAKE3_KEYED;
  expect_wrong(bad, "needs a key");
  bad.key = messages.key;
  bad.key_bytes = 31;
  expect_wrong(bad, "has 32 bytes");
  bad = good;
  bad.key = messages.key;
  expect_wrong(bad, "has no key");
  bad = good;
  bad.text_bytes = 1;
  expect_wrong(bad, "no text");
  bad = good;
  bad.messages = nullptr;
  expect_wrong(bad, "no messages");
  bad = good;
  bad.message_size = 8;
  expect_wrong(bad, "message_size");
  bad = good;
  bad.digest_memory = LC_MEMORY_DEVICE;
  expect_wrong(bad, "host memory");
  bad = good;
  bad.memory = LC_MEMORY_DEVICE;
  expect_wrong(bad, "CPU");
  bad = good;
  bad.device = 9;
  expect_wrong(bad, "no device 9");
  bad = good;
  bad.hash = LC_SHAKE_128;
  bad.digest_bytes = (uint64_t{1} << 30) + 1;
  expect_wrong(bad, "2^30");
  lc_hash_message one = {nullptr, 1, messages.digests.data()};
  bad = good;
  bad.messages = &one;
  expect_wrong(bad, "message 0: no input");
  one = {messages.text.data(), 1, nullptr};
  expect_wrong(bad, "message 0: no place");
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_hash_run(nullptr, &good, nullptr));
  EXPECT_EQ(LC_ERROR_ARGUMENT, lc_hash_run(context_.get(), nullptr, nullptr));
}

TEST_F(HashArguments, TicketTellsTheEnd) {
  Messages messages(kAll[10], {3 << 20, 0, 5}, random_);
  const lc_hash_job job = messages.job(LC_CPU);
  lc_ticket *ticket = nullptr;
  LANECRYPT_ASSERT_OK(lc_hash_submit(context_.get(), &job, nullptr, &ticket));
  lc_result result = {};
  result.struct_size = sizeof result;
  LANECRYPT_ASSERT_OK(lc_ticket_wait(ticket, &result));
  lc_ticket_free(ticket);
  EXPECT_EQ(3u, result.cpu_operations);
  EXPECT_EQ(messages.all_bytes(), result.cpu_bytes);
}

// If a device fails in any way, the CPU does the job and computes the right digests.
TEST(HashFaults, AreMadeGood) {
  Random random(8);
  const lc_options on_host = {.struct_size = sizeof(lc_options),
                              .devices = "host",
                              .fallback = LC_FALLBACK_CPU,
                              .pinned_bytes = 0,
                              .verify = LC_VERIFY_SAMPLED,
                              .time_limit_ms = 3000,
                              .prefer = LC_PREFER_SPEED,
                              .prime_pool = 0,
                              .cores = 0,
                              .service = nullptr};
  for (const char *fault : {"lost-after:0", "lost-upload:0", "lost-download:0", "fail-launch:0",
                            "wrong-blocks:0", "drop-kernel:0", "drop-download:0", "stuck:0"}) {
    SCOPED_TRACE(fault);
    const ScopedEnvironment variable("LANECRYPT_HOST_FAULT", fault);
    for (const Named &named : kAll) {
      if (!is_first_of_kernel(named)) continue;
      SCOPED_TRACE(testing::Message() << "hash " << named.hash);
      Messages messages(named, {400000}, random), right = messages;
      const lc_hash_job job = messages.job(0), by_cpu = right.job(LC_CPU);
      lc_result result = {};
      result.struct_size = sizeof result;
      {
        Context context(on_host);
        LANECRYPT_ASSERT_OK(lc_hash_run(context.get(), &job, &result));
        LANECRYPT_ASSERT_OK(lc_hash_run(context.get(), &by_cpu, nullptr));
        if (std::string(fault) == "lost-after:0") {
          const std::string reason = context.device(0).reason;
          EXPECT_TRUE(reason.starts_with("host:0: hashes: ")) << reason;
        }
      }
      EXPECT_EQ(1u, result.failed_devices);
      EXPECT_EQ(messages.all_bytes(), result.cpu_bytes);
      EXPECT_EQ(right.digests, messages.digests);
      // Each stuck device takes the whole time limit.
      if (std::string(fault) == "stuck:0" && named.hash == LC_SHA_224) break;
    }
  }
}

}  // namespace
}  // namespace lanecrypt::test
