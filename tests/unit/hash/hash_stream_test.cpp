// Hash jobs in the caller's streams, on the emulator, whose streams a test can hold up.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "cpu/hash/cpu_hash.h"
#include "lanecrypt/lanecrypt.h"
#include "unit/support/emulator.h"

namespace lanecrypt::test {
namespace {

using device::HostCallersStream;

constexpr size_t kBytes = 300000, kDigestBytes = 32;

std::vector<uint8_t> digest_of(lc_hash hash, const std::vector<uint8_t> &message) {
  std::vector<uint8_t> digest(kDigestBytes);
  const lc_hash_message one = {message.data(), message.size(), digest.data()};
  lc_hash_job job = {};
  job.struct_size = sizeof job;
  job.hash = hash;
  job.messages = &one;
  job.message_count = 1;
  job.message_size = sizeof one;
  Result<HashJob> made = make_hash_job(&job);
  EXPECT_TRUE(made.ok());
  EXPECT_TRUE(cpu::prepare_hash(&made->spec).ok());
  EXPECT_TRUE(cpu::hash(made->spec, message, digest).ok());
  return digest;
}

class HashStream : public testing::TestWithParam<lc_hash> {
 protected:
  lc_status submit(void *stream, lc_memory digest_memory, void *digest, lc_ticket **ticket) {
    const lc_hash_message one = {data_, kBytes, digest};
    lc_hash_job job = {};
    job.struct_size = sizeof job;
    job.hash = GetParam();
    job.memory = LC_MEMORY_DEVICE;
    job.device = LC_ANY_DEVICE;
    job.stream = stream;
    job.messages = &one;
    job.message_count = 1;
    job.message_size = sizeof one;
    job.digest_memory = digest_memory;
    return lc_hash_submit(emulator_.context(), &job, nullptr, ticket);
  }

  const Emulator emulator_{kBytes + kDigestBytes};
  uint8_t *const data_ = emulator_.data();
};

// The job sees the results of earlier work in the stream, and later work sees the digest.
TEST_P(HashStream, RunsInItsOrder) {
  HostCallersStream stream;
  StreamGate gate;
  const std::vector<uint8_t> message(kBytes, 0x5a);
  std::memset(data_, 0, kBytes + kDigestBytes);
  gate.hold(stream);
  stream.run([&] { std::memcpy(data_, message.data(), kBytes); });
  ASSERT_EQ(LC_OK, submit(stream.handle(), LC_MEMORY_DEVICE, data_ + kBytes, nullptr))
      << lc_last_error();
  std::vector<uint8_t> seen(kDigestBytes);
  stream.run([&] { std::memcpy(seen.data(), data_ + kBytes, kDigestBytes); });

  // A job without a stream does not wait for that stream.
  std::vector<uint8_t> zeros(kDigestBytes);
  lc_ticket *ticket = nullptr;
  ASSERT_EQ(LC_OK, submit(nullptr, LC_MEMORY_HOST, zeros.data(), &ticket)) << lc_last_error();
  ASSERT_EQ(LC_OK, lc_ticket_wait(ticket, nullptr)) << lc_last_error();
  lc_ticket_free(ticket);
  EXPECT_EQ(digest_of(GetParam(), std::vector<uint8_t>(kBytes)), zeros);

  gate.open();
  stream.finish();
  EXPECT_EQ(digest_of(GetParam(), message), seen);
}

TEST_P(HashStream, RefusesTheStreamOfEachThread) {
  EXPECT_EQ(LC_ERROR_UNSUPPORTED,
            submit(LC_STREAM_PER_THREAD, LC_MEMORY_DEVICE, data_ + kBytes, nullptr));
}

INSTANTIATE_TEST_SUITE_P(Hashes, HashStream, testing::Values(LC_SHA_256, LC_BLAKE3));

}  // namespace
}  // namespace lanecrypt::test
