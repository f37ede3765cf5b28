// Tests RSA by a service in ASYNC jobs, which pause while the service works.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/async.h>
#include <poll.h>

#include <chrono>
#include <deque>
#include <thread>

#include "provider/service/rsa_by_service.h"

namespace provider_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Signing {
  Library *library;
  EVP_PKEY *key;
  size_t bytes;
  uint8_t seed;
  bool block_pause = false;
  bool is_right = false;
};

int sign_in_job(void *argument) {
  // The argument is a copy that lives as long as the job.
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
  // go_on() starts or resumes the job.
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
  // finish() runs all jobs to their end. It returns how many succeeded.
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

// With the default settings, a trial shows that there are many jobs.
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

// No thread of ours exists that could call a callback, so such a job blocks.
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

// This runs in a child, because OpenSSL cannot cancel a job that is not resumed.
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
              // A wait context whose job was abandoned can be used by another job.
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
              // Jobs that the parent has begun, and new ones with the parent's wait context.
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

}  // namespace
}  // namespace provider_test
