// One key of the library's for all clients that bring the same numbers, and for no others.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "../../unit/support/rsa_test_key.h"
#include "service/daemon/work/library_keys.h"

namespace lanecrypt::service::daemon {
namespace {

using test::Bytes;

// The numbers of a key in the order of KeyPart, without kD.
using Numbers = std::array<Bytes, kD>;

Numbers numbers_of(const test::TestKey &key) {
  return {key.n, key.e, key.p, key.q, key.dp, key.dq, key.qinv};
}

KeyParts parts_of(const Numbers &numbers) {
  KeyParts parts;
  std::copy(numbers.begin(), numbers.end(), parts.begin());
  return parts;
}

TEST(LibraryKeys, AreOneForTheSameNumbers) {
  LibraryKeys keys;
  const Numbers key = numbers_of(test::key_of_bits(1024)), copy = key;
  const LibraryKeyPointer first = keys.get(parts_of(key)), second = keys.get(parts_of(copy));
  ASSERT_NE(nullptr, first);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, keys.get(parts_of(numbers_of(test::TestKey::random(1024)))));
}

TEST(LibraryKeys, AreNotSharedWithWhoKnowsLess) {
  LibraryKeys keys;
  const Numbers key = numbers_of(test::key_of_bits(1024));
  const LibraryKeyPointer good = keys.get(parts_of(key));
  ASSERT_NE(nullptr, good);
  // With each of the private numbers wrong, and with the primes in the other order.
  Numbers wrong = key;
  for (size_t n = kP; n < kD; ++n) {
    wrong[n].back() ^= 2;
    EXPECT_EQ(nullptr, keys.get(parts_of(wrong)));
    wrong[n].back() ^= 2;
  }
  wrong[kP].swap(wrong[kQ]);
  EXPECT_EQ(nullptr, keys.get(parts_of(wrong)));
  EXPECT_EQ(good, keys.get(parts_of(key)));
}

TEST(LibraryKeys, GoWithTheirLastClient) {
  LibraryKeys keys;
  const Numbers key = numbers_of(test::key_of_bits(1024));
  const KeyParts parts = parts_of(key);
  LibraryKeyPointer first = keys.get(parts), second = keys.get(parts);
  const std::weak_ptr<const LibraryKey> seen = first;
  first.reset();
  EXPECT_FALSE(seen.expired());
  second.reset();
  EXPECT_TRUE(seen.expired());
  EXPECT_NE(nullptr, keys.get(parts));
}

TEST(LibraryKeys, BearThreadsThatBringAndLeaveThem) {
  LibraryKeys keys;
  const Numbers key = numbers_of(test::key_of_bits(1024));
  const KeyParts parts = parts_of(key);
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const LibraryKeyPointer got = keys.get(parts);
        ASSERT_NE(nullptr, got);
        EXPECT_TRUE(got->is(parts));
      }
    });
  for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace lanecrypt::service::daemon
