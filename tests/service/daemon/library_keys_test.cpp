// One key of the library's for all clients that bring the same numbers, and for no others.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "../../unit/support/rsa_test_key.h"
#include "service/daemon/work/library_keys.h"

namespace lanecrypt::service::daemon {
namespace {

using test::Bytes;
using test::TestKey;

KeyParts parts_of(const TestKey &key) {
  KeyParts parts;
  const Bytes *const numbers[] = {&key.n, &key.e, &key.p, &key.q, &key.dp, &key.dq, &key.qinv};
  for (size_t n = 0; n < std::size(numbers); ++n) parts[n] = *numbers[n];
  return parts;
}

TEST(LibraryKeys, AreOneForTheSameNumbers) {
  LibraryKeys keys;
  const TestKey &key = test::key_of_bits(1024);
  const TestKey copy = key;
  const LibraryKeyPointer first = keys.get(parts_of(key)), second = keys.get(parts_of(copy));
  ASSERT_NE(nullptr, first);
  EXPECT_EQ(first, second);
  const TestKey other = TestKey::random(1024);
  EXPECT_NE(first, keys.get(parts_of(other)));
}

TEST(LibraryKeys, AreNotSharedWithWhoKnowsLess) {
  LibraryKeys keys;
  const TestKey &key = test::key_of_bits(1024);
  const LibraryKeyPointer good = keys.get(parts_of(key));
  ASSERT_NE(nullptr, good);
  // With each of the private numbers wrong, and with the primes in the other order.
  TestKey wrong = key;
  for (Bytes *number : {&wrong.p, &wrong.q, &wrong.dp, &wrong.dq, &wrong.qinv}) {
    number->back() ^= 2;
    EXPECT_EQ(nullptr, keys.get(parts_of(wrong)));
    number->back() ^= 2;
  }
  wrong.p.swap(wrong.q);
  EXPECT_EQ(nullptr, keys.get(parts_of(wrong)));
  EXPECT_EQ(good, keys.get(parts_of(key)));
}

TEST(LibraryKeys, GoWithTheirLastClient) {
  LibraryKeys keys;
  const KeyParts parts = parts_of(test::key_of_bits(1024));
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
  const KeyParts parts = parts_of(test::key_of_bits(1024));
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const LibraryKeyPointer key = keys.get(parts);
        ASSERT_NE(nullptr, key);
        EXPECT_TRUE(key->is(parts));
      }
    });
  for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace lanecrypt::service::daemon
