// The CPU's code for every hash gives the known answers that devices are tested with.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cpu/hash/cpu_hash.h"
#include "verify/hash_known_answers.h"

namespace lanecrypt::verify {
namespace {

TEST(HashKnownAnswers, AreTheCpusToo) {
  for (const HashKnownAnswer &answer : hash_known_answers()) {
    SCOPED_TRACE(answer.subject());
    const std::vector<uint8_t> message = answer.message();
    std::vector<uint8_t> digest(answer.digest().size());
    const lc_hash_message one = {message.data(), message.size(), digest.data()};
    Result<HashJob> job = answer.job({&one, 1});
    ASSERT_TRUE(job.ok()) << job.status().text();
    ASSERT_TRUE(cpu::prepare_hash(&job->spec).ok());
    ASSERT_TRUE(cpu::hash(job->spec, message, digest).ok());
    EXPECT_EQ(answer.digest(), digest);
  }
}

}  // namespace
}  // namespace lanecrypt::verify
