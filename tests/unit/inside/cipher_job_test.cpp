// How a job of the ABI is checked and copied: its messages and keys. No device is needed.
//
// SPDX-License-Identifier: Apache-2.0
#include "job/cipher/cipher_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "unit/support/random_bytes.h"
#include "work/todo.h"

namespace lanecrypt {
namespace {

// A job has as many keys as there are different addresses, in whatever order they occur.
TEST(CipherJobs, HaveTheKeyOfEachMessage) {
  constexpr uint32_t kKeyBytes = 24;
  for (const size_t keys : {size_t{1}, size_t{2}, size_t{9}, size_t{1000}}) {
    std::vector<uint8_t> key_bytes(keys * kKeyBytes);
    for (size_t n = 0; n < key_bytes.size(); ++n)
      key_bytes[n] = static_cast<uint8_t>(n / kKeyBytes * 37 + n / kKeyBytes / 256 + n % kKeyBytes);
    std::vector<uint8_t> data(16 * 3 * keys);
    std::vector<lc_message> messages;
    for (size_t n = 0; n < 3 * keys; ++n) {
      lc_message message = {};
      // Forwards, backwards, and each twice in a row.
      const size_t key = n < keys ? n : n < 2 * keys ? 2 * keys - 1 - n : (n - 2 * keys) / 2;
      message.key = &key_bytes[key * kKeyBytes];
      message.in = message.out = &data[16 * n];
      message.length = 16;
      messages.push_back(message);
    }
    lc_cipher_job asked = {};
    asked.struct_size = sizeof asked;
    asked.cipher = LC_AES_ECB;
    asked.direction = LC_ENCRYPT;
    asked.key_bytes = kKeyBytes;
    asked.messages = messages.data();
    asked.message_count = messages.size();
    asked.message_size = sizeof messages[0];
    Result<CipherJob> job = make_cipher_job(&asked);
    ASSERT_TRUE(job.ok()) << job.status().text();
    EXPECT_EQ(keys, job->key_count);
    ASSERT_EQ(messages.size(), job->messages.size());
    for (size_t n = 0; n < messages.size(); ++n) {
      const CipherMessage &message = job->messages[n];
      ASSERT_LT(message.key, job->key_count);
      const auto *wanted = static_cast<const uint8_t *>(messages[n].key);
      ASSERT_TRUE(std::equal(wanted, wanted + kKeyBytes, job->key(message.key)))
          << "message " << n << " of " << keys << " keys";
      EXPECT_EQ(messages[n].in, message.in);
    }
  }
}

// So many messages that they are checked in parts. Their addresses are invalid and never accessed.
constexpr size_t kMany = 70000;

struct ManyMessages {
  explicit ManyMessages(lc_cipher cipher, size_t keys, uint64_t seed) : random(seed) {
    key_bytes.resize(32 * keys);
    random.fill(key_bytes.data(), key_bytes.size());
    ivs.resize(16 * kMany);
    random.fill(ivs.data(), ivs.size());
    tags.resize(16 * kMany);
    for (size_t n = 0; n < kMany; ++n) {
      lc_message message = {};
      // Runs of one key, of all lengths, and keys that occur once each.
      const size_t key = n < kMany / 2 ? n * n / 9999991 : n;
      message.key = &key_bytes[32 * (key % keys)];
      message.iv = &ivs[16 * n];
      message.in = message.out = reinterpret_cast<void *>((n + 1) << 20);
      message.length = 16 * (1 + random.below(1000));
      list.push_back(message);
    }
    job.struct_size = sizeof job;
    job.cipher = cipher;
    job.direction = LC_ENCRYPT;
    job.key_bytes = 32;
    job.messages = list.data();
    job.message_count = list.size();
    job.message_size = sizeof list[0];
  }

  test::Random random;
  std::vector<uint8_t> key_bytes, ivs, tags;
  std::vector<lc_message> list;
  lc_cipher_job job = {};
};

// Any thread may do any part, and the parts may end in any order.
void run_on_threads(size_t count, const std::function<void(size_t)> &part) {
  std::atomic<size_t> next = 0;
  const auto take = [&] {
    for (size_t n = next++; n < count; n = next++) part(count - 1 - n);
  };
  std::thread other(take), third(take);
  take();
  other.join();
  third.join();
}

void expect_same(const CipherJob &wanted, const CipherJob &job) {
  EXPECT_EQ(wanted.bytes, job.bytes);
  EXPECT_EQ(wanted.longest_stream_bytes, job.longest_stream_bytes);
  EXPECT_EQ(wanted.aad_count, job.aad_count);
  EXPECT_EQ(wanted.ivs, job.ivs);
  ASSERT_EQ(wanted.messages.size(), job.messages.size());
  ASSERT_EQ(wanted.aead.size(), job.aead.size());
  for (size_t n = 0; n < job.messages.size(); ++n) {
    const CipherMessage &a = wanted.messages[n], &b = job.messages[n];
    ASSERT_TRUE(b.key < job.key_count && a.number == b.number && a.iv == b.iv && a.in == b.in &&
                a.out == b.out && a.length == b.length)
        << "message " << n;
    ASSERT_EQ(0, std::memcmp(wanted.key(a.key), job.key(b.key), job.kind.key_bytes));
  }
  for (size_t n = 0; n < job.aead.size(); ++n) {
    const AeadMessage &a = wanted.aead[n], &b = job.aead[n];
    ASSERT_TRUE(a.aad == b.aad && a.aad_length == b.aad_length && a.tag == b.tag &&
                a.part == b.part)
        << "message " << n;
  }
}

// The result is the same as if one thread had checked them: in order, and with the same key
// numbers.
TEST(CipherJobs, OfManyMessagesAreMadeInParts) {
  for (const size_t keys : {size_t{1}, size_t{2}, size_t{300}, kMany}) {
    ManyMessages many(LC_AES_CBC, keys, 7 + keys);
    // Empty messages leave gaps. One gap is a whole part.
    if (keys != 1)
      for (size_t n = 0; n < kMany; ++n)
        if (many.random.below(100) == 0 || (n >= 9000 && n < 19000)) many.list[n].length = 0;
    Result<CipherJob> wanted = make_cipher_job(&many.job);
    size_t calls = 0;
    Result<CipherJob> job = make_cipher_job(&many.job, [&](size_t count, const auto &part) {
      ++calls;
      EXPECT_LT(1u, count);
      run_on_threads(count, part);
    });
    ASSERT_TRUE(wanted.ok() && job.ok()) << job.status().text();
    EXPECT_LT(0u, calls);
    expect_same(*wanted, *job);
    // If there are few keys, each is found to be the same in every part. If there are very many,
    // each part counts a key once.
    if (keys <= 2) {
      EXPECT_EQ(keys, job->key_count);
    } else {
      EXPECT_LE(wanted->key_count, job->key_count);
      EXPECT_GE(wanted->key_count * (keys == kMany ? 2 : kMany / 4096 + 1), job->key_count);
    }
    for (const CipherMessage &message : job->messages) {
      const lc_message &from = many.list[message.number];
      const auto *key = static_cast<const uint8_t *>(from.key);
      ASSERT_TRUE(std::equal(key, key + 32, job->key(message.key)));
      ASSERT_TRUE(
          std::equal(message.iv.begin(), message.iv.end(), static_cast<const uint8_t *>(from.iv)));
      ASSERT_EQ(from.in, message.in);
    }
  }
}

TEST(CipherJobs, OfManyAuthenticatedMessagesAreMadeInParts) {
  for (const lc_cipher cipher : {LC_AES_GCM, LC_AES_CCM}) {
    ManyMessages many(cipher, 20, 17);
    uint64_t bytes = 0;
    for (size_t n = 0; n < kMany; ++n) {
      many.list[n].tag = &many.tags[16 * n];
      many.list[n].aad = many.ivs.data();
      many.list[n].aad_length = many.random.below(3) * many.random.below(100);
      if (many.random.below(50) == 0) many.list[n].length = 0;
      bytes += many.list[n].length + many.list[n].aad_length;
    }
    Result<CipherJob> wanted = make_cipher_job(&many.job);
    Result<CipherJob> job = make_cipher_job(&many.job, run_on_threads);
    ASSERT_TRUE(wanted.ok() && job.ok()) << job.status().text();
    EXPECT_EQ(bytes, job->bytes);
    EXPECT_EQ(kMany, job->messages.size());
    expect_same(*wanted, *job);
  }
}

// The error names the first invalid message, even if another one is found sooner.
TEST(CipherJobs, OfManyMessagesTellOfTheFirstThatIsWrong) {
  ManyMessages many(LC_AES_CBC, 3, 27);
  for (const size_t wrong : {size_t{69999}, size_t{40000}, size_t{12345}, size_t{0}}) {
    many.list[wrong].length = 17;
    for (const RunParts &run_parts : {RunParts(nullptr), RunParts(run_on_threads)}) {
      const Result<CipherJob> job = make_cipher_job(&many.job, run_parts);
      ASSERT_FALSE(job.ok());
      EXPECT_EQ(LC_ERROR_ARGUMENT, job.status().code());
      EXPECT_TRUE(job.status().text().starts_with("message " + std::to_string(wrong) + ":"))
          << job.status().text();
    }
  }
}

TEST(CipherJobs, HaveNoMoreBytesThanCanBeCounted) {
  ManyMessages many(LC_AES_CBC, 3, 37);
  for (const size_t n : {size_t{3}, size_t{30000}, size_t{60000}}) many.list[n].length = 1ull << 62;
  for (const RunParts &run_parts : {RunParts(nullptr), RunParts(run_on_threads)}) {
    const Result<CipherJob> job = make_cipher_job(&many.job, run_parts);
    ASSERT_FALSE(job.ok());
    EXPECT_EQ("too many bytes in one job", job.status().text());
  }
}

// Pieces are made on demand, and are the same as if all were made at once.
TEST(Todo, HasThePiecesOfAllMessagesInTheirOrder) {
  using runtime::Piece;
  for (const lc_cipher cipher : {LC_AES_CBC, LC_AES_GCM, LC_AES_CCM}) {
    ManyMessages many(cipher, 20, 47);
    many.job.message_count = 100;
    for (size_t n = 0; n < 100; ++n) {
      many.list[n].tag = &many.tags[16 * n];
      many.list[n].aad = many.ivs.data();
      many.list[n].aad_length = cipher == LC_AES_CBC ? 0 : n % 3;
    }
    Result<CipherJob> job = make_cipher_job(&many.job);
    ASSERT_TRUE(job.ok());
    runtime::Todo eager(*job), lazy(*job);
    EXPECT_TRUE(lazy.empty());
    eager.begin();
    lazy.begin();
    const std::deque<Piece> wanted = eager.all();
    EXPECT_EQ(cipher == LC_AES_GCM ? 166u : 100u, wanted.size());
    const auto same = [](const Piece &a, const Piece &b) {
      return a.message == b.message && a.offset == b.offset && a.length == b.length &&
             a.iv == b.iv && a.continues == b.continues && a.is_aad == b.is_aad;
    };
    for (size_t n = 0; n < wanted.size(); ++n) {
      ASSERT_EQ(wanted.size() - n, lazy.size());
      if (const size_t ahead = many.random.below(3); n + ahead < wanted.size()) {
        ASSERT_TRUE(same(wanted[n + ahead], lazy.at(ahead)));
      }
      // A piece that was not done is returned again, before all others.
      if (many.random.below(4) == 0) {
        lazy.pop_front();
        lazy.push_front(wanted[n]);
      }
      ASSERT_TRUE(same(wanted[n], lazy.front()));
      size_t unmade = 0;
      lazy.each_unmade([&](uint32_t message) {
        EXPECT_LT(wanted[n].message, message);
        ++unmade;
      });
      EXPECT_LE(unmade, lazy.size() - lazy.made().size());
      lazy.pop_front();
    }
    EXPECT_TRUE(lazy.empty());
    lazy.push_back_message(5);
    EXPECT_EQ(cipher == LC_AES_GCM ? 2u : 1u, lazy.size());
    EXPECT_EQ(5u, lazy.back().message);
    lazy.clear();
    EXPECT_TRUE(lazy.empty());
  }
}

}  // namespace
}  // namespace lanecrypt
