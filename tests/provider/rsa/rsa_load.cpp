// Tests RSA from many threads and many concurrent ASYNC jobs, with keys of several sizes, and with
// callers that abandon their jobs.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/async.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "provider/rsa/rsa_twins.h"
#include "test_scale.h"

namespace provider_test {
namespace {

// Signing signs with our provider and verifies with OpenSSL's own. The result is 1 if both
// succeeded.
struct Signing {
  Library *library;
  const KeyTwins *key;
  int padding;
  uint8_t seed;
  bool block_pause = false;
};

int sign_and_verify(const Signing &signing) {
  Bytes signature(signing.key->bytes);
  uint8_t digest[32];
  for (size_t at = 0; at < sizeof digest; ++at) digest[at] = uint8_t(signing.seed + at);
  char name[] = "SHA256";
  int padding = signing.padding;
  const OSSL_PARAM params[] = {
      {OSSL_SIGNATURE_PARAM_DIGEST, OSSL_PARAM_UTF8_STRING, name, 6, 0},
      {OSSL_SIGNATURE_PARAM_PAD_MODE, OSSL_PARAM_INTEGER, &padding, sizeof padding, 0},
      OSSL_PARAM_END};
  size_t bytes = signature.size();
  int result = 0;
  {
    const PkeyContext context =
        context_for(*signing.library, signing.key->sides[1].get(), kProperties[1]);
    if (signing.block_pause) O(ASYNC_block_pause)();
    if (O(EVP_PKEY_sign_init_ex)(context.get(), params) == 1)
      result = O(EVP_PKEY_sign)(context.get(), signature.data(), &bytes, digest, sizeof digest);
    if (signing.block_pause) O(ASYNC_unblock_pause)();
  }
  if (result != 1) return 0;
  const PkeyContext context =
      context_for(*signing.library, signing.key->sides[0].get(), kProperties[0]);
  return O(EVP_PKEY_verify_init_ex)(context.get(), params) == 1 &&
         O(EVP_PKEY_verify)(context.get(), signature.data(), bytes, digest, sizeof digest) == 1;
}

int sign_in_job(void *argument) { return sign_and_verify(*static_cast<Signing *>(argument)); }

class RsaLoad : public testing::Test {
 protected:
  Library library{{{"devices", rsa_devices()}, {"rsa", "always"}}};
  std::vector<KeyTwins> keys;
  void SetUp() override {
    ASSERT_TRUE(library.is_ready()) << library.errors();
    for (unsigned bits : {1024u, 1024u, 1536u, 2048u})
      keys.push_back(make_key_twins(library, "RSA", bits));
  }
  Signing signing(size_t n) {
    return {&library, &keys[n % keys.size()],
            n % 3 == 0 ? RSA_PKCS1_PSS_PADDING : RSA_PKCS1_PADDING, uint8_t(n)};
  }
};

// Job is an ASYNC job with its wait context.
struct Job {
  Signing signing;
  ASYNC_JOB *job = nullptr;
  ASYNC_WAIT_CTX *wait = nullptr;
  int result = 0;
  std::atomic<int> calls{0};
  bool ended = false;
};

int count_call(void *job) {
  ++static_cast<Job *>(job)->calls;
  return 1;
}

TEST_F(RsaLoad, ManyThreads) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 64; ++t)
    threads.emplace_back([&, t] {
      for (size_t n = 0; n < 8; ++n) right += sign_and_verify(signing(t + n));
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(64 * 8, right);
  EXPECT_EQ(64u * 8, rsa_device_jobs(library));
  EXPECT_EQ(0u, library.counter("lanecrypt.rsa-failures"));
}

// All jobs wait concurrently. Each is woken by its descriptor.
TEST_F(RsaLoad, ManyJobsByDescriptors) {
  if (!O(ASYNC_is_capable)()) GTEST_SKIP() << "this OpenSSL has no ASYNC jobs";
  const size_t kJobs = scaled(4096);
  ASSERT_EQ(1, O(ASYNC_init_thread)(kJobs, 0));
  std::deque<Job> jobs(kJobs);
  size_t paused = 0, right = 0, left = kJobs;
  const auto run = [&](Job &job) {
    switch (O(ASYNC_start_job)(&job.job, job.wait, &job.result, sign_in_job, &job.signing,
                               sizeof job.signing)) {
      case ASYNC_PAUSE:
        ++paused;
        return;
      case ASYNC_FINISH:
        right += job.result == 1;
        break;
      default:
        ADD_FAILURE() << "a job did not start";
    }
    job.ended = true;
    --left;
  };
  for (size_t n = 0; n < kJobs; ++n) {
    jobs[n].signing = signing(n);
    jobs[n].wait = O(ASYNC_WAIT_CTX_new)();
    run(jobs[n]);
  }
  // Many of them wait concurrently.
  EXPECT_GT(paused, kJobs / 8);
  while (left > 0) {
    std::vector<pollfd> polled;
    std::vector<Job *> of;
    for (Job &job : jobs) {
      if (job.ended) continue;
      OSSL_ASYNC_FD descriptor = -1;
      size_t count = 0;
      ASSERT_EQ(1, O(ASYNC_WAIT_CTX_get_all_fds)(job.wait, nullptr, &count));
      ASSERT_EQ(1u, count);
      ASSERT_EQ(1, O(ASYNC_WAIT_CTX_get_all_fds)(job.wait, &descriptor, &count));
      polled.push_back({descriptor, POLLIN, 0});
      of.push_back(&job);
    }
    // A batch is large and the emulator slow. Only a hang takes longer than this.
    ASSERT_GT(poll(polled.data(), polled.size(), 300'000), 0) << left << " jobs were not woken";
    for (size_t n = 0; n < polled.size(); ++n)
      if (polled[n].revents != 0) run(*of[n]);
  }
  EXPECT_EQ(kJobs, right);
  EXPECT_EQ(kJobs, rsa_device_jobs(library));
  for (Job &job : jobs) O(ASYNC_WAIT_CTX_free)(job.wait);
  O(ASYNC_cleanup_thread)();
}

// Callbacks wake the jobs. Each job does one operation after another in one wait context.
TEST_F(RsaLoad, JobsByCallbacks) {
  if (!O(ASYNC_is_capable)()) GTEST_SKIP() << "this OpenSSL has no ASYNC jobs";
  std::deque<Job> jobs(16);
  for (Job &job : jobs) {
    job.wait = O(ASYNC_WAIT_CTX_new)();
    ASSERT_EQ(1, O(ASYNC_WAIT_CTX_set_callback)(job.wait, count_call, &job));
  }
  for (size_t round = 0; round < 4; ++round) {
    for (size_t n = 0; n < jobs.size(); ++n) {
      Job &job = jobs[n];
      job.signing = signing(n + round);
      job.calls = 0;
      job.ended = O(ASYNC_start_job)(&job.job, job.wait, &job.result, sign_in_job, &job.signing,
                                     sizeof job.signing) == ASYNC_FINISH;
    }
    for (Job &job : jobs) {
      if (job.ended) continue;
      for (int wait = 0; wait < 300'000 && job.calls == 0; ++wait)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ASSERT_EQ(1, job.calls);
      ASSERT_EQ(ASYNC_FINISH,
                O(ASYNC_start_job)(&job.job, job.wait, &job.result, sign_in_job, nullptr, 0));
    }
    for (Job &job : jobs) EXPECT_EQ(1, job.result);
  }
  for (Job &job : jobs) O(ASYNC_WAIT_CTX_free)(job.wait);
  O(ASYNC_cleanup_thread)();
}

// Event is signalled by one thread and awaited by another. A wait that takes too long returns
// false.
class Event {
 public:
  void tell() {
    const std::lock_guard lock(mutex_);
    told_ = true;
    changed_.notify_all();
  }
  bool wait(std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [&] { return told_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool told_ = false;
};

// Meeting is a job whose callback waits for other threads.
struct Meeting {
  Job job;
  Event begins, resumed, ends;
  bool in_time = false;

  static int come(void *argument) {
    Meeting &self = *static_cast<Meeting *>(argument);
    self.begins.tell();
    self.in_time = self.resumed.wait();
    self.ends.tell();
    return 1;
  }
  // start() starts the job, and returns whether it paused.
  bool start(const Signing &what, ASYNC_callback_fn callback) {
    job.signing = what;
    job.wait = O(ASYNC_WAIT_CTX_new)();
    O(ASYNC_WAIT_CTX_set_callback)(job.wait, callback, this);
    return O(ASYNC_start_job)(&job.job, job.wait, &job.result, sign_in_job, &job.signing,
                              sizeof job.signing) == ASYNC_PAUSE;
  }
};

// A callback waits for another thread if it takes a lock that is held while that thread resumes
// jobs.
TEST_F(RsaLoad, ACallbackMayWaitForWhoResumesItsJob) {
  if (!O(ASYNC_is_capable)()) GTEST_SKIP() << "this OpenSSL has no ASYNC jobs";
  int met = 0;
  for (size_t n = 0; n < 40 && met < 3; ++n) {
    Meeting one;
    const bool paused = one.start(signing(n), Meeting::come);
    if (paused) {
      ASSERT_TRUE(one.begins.wait());
      ASSERT_EQ(ASYNC_FINISH, O(ASYNC_start_job)(&one.job.job, one.job.wait, &one.job.result,
                                                 sign_in_job, nullptr, 0));
      one.resumed.tell();
      ASSERT_TRUE(one.ends.wait());
      ASSERT_TRUE(one.in_time) << "the job went on only when the callback was over";
      ++met;
    }
    one.resumed.tell();
    EXPECT_EQ(1, one.job.result);
    O(ASYNC_WAIT_CTX_free)(one.job.wait);
  }
  EXPECT_EQ(3, met);
  O(ASYNC_cleanup_thread)();
}

// The callback's argument may be freed once the wait context has been freed.
TEST_F(RsaLoad, AWaitContextGoesAfterItsCallback) {
  if (!O(ASYNC_is_capable)()) GTEST_SKIP() << "this OpenSSL has no ASYNC jobs";
  bool met = false;
  for (size_t n = 0; n < 40 && !met; ++n) {
    Meeting one;
    met = one.start(signing(n), Meeting::come);
    if (met) {
      ASSERT_TRUE(one.begins.wait());
      ASSERT_EQ(ASYNC_FINISH, O(ASYNC_start_job)(&one.job.job, one.job.wait, &one.job.result,
                                                 sign_in_job, nullptr, 0));
      Event gone;
      std::thread free([&] {
        O(ASYNC_WAIT_CTX_free)(one.job.wait);
        gone.tell();
      });
      // No event can show that the wait context still exists.
      EXPECT_FALSE(gone.wait(std::chrono::milliseconds(50)));
      one.resumed.tell();
      EXPECT_TRUE(gone.wait());
      EXPECT_TRUE(one.in_time);
      free.join();
    } else {
      one.resumed.tell();
      O(ASYNC_WAIT_CTX_free)(one.job.wait);
    }
    EXPECT_EQ(1, one.job.result);
  }
  EXPECT_TRUE(met);
  O(ASYNC_cleanup_thread)();
}

// A callback frees its wait context if it closes a connection.
TEST_F(RsaLoad, ACallbackMayFreeItsWaitContext) {
  if (!O(ASYNC_is_capable)()) GTEST_SKIP() << "this OpenSSL has no ASYNC jobs";
  // This runs in a child, because OpenSSL cannot cancel a job that is not resumed.
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    std::deque<Meeting> all(40);
    int freed = 0, right = 0;
    for (size_t n = 0; n < all.size() && freed < 3; ++n) {
      const auto free_it = [](void *argument) {
        Meeting &self = *static_cast<Meeting *>(argument);
        if (!self.resumed.wait()) return 1;  // signalled once the job has paused
        O(ASYNC_WAIT_CTX_free)(self.job.wait);
        self.ends.tell();
        return 1;
      };
      const bool paused = all[n].start(signing(n), free_it);
      all[n].resumed.tell();
      if (!paused) continue;
      if (!all[n].ends.wait()) _exit(1);
      ++freed;
    }
    for (size_t n = 0; n < 20; ++n) right += sign_and_verify(signing(n));
    _exit(freed == 3 && right == 20 ? 0 : 2);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
}

// A job that is resumed before it was woken pauses again, or blocks.
TEST_F(RsaLoad, JobsResumedTooEarly) {
  if (!O(ASYNC_is_capable)()) GTEST_SKIP() << "this OpenSSL has no ASYNC jobs";
  Job job;
  job.wait = O(ASYNC_WAIT_CTX_new)();
  for (size_t n = 0; n < 20; ++n) {
    job.signing = signing(n);
    int starts = 0, state;
    do {
      state = O(ASYNC_start_job)(&job.job, job.wait, &job.result, sign_in_job, &job.signing,
                                 sizeof job.signing);
      ++starts;
    } while (state == ASYNC_PAUSE && starts < 1000000);
    EXPECT_EQ(ASYNC_FINISH, state);
    EXPECT_EQ(1, job.result);
  }
  O(ASYNC_WAIT_CTX_free)(job.wait);
  O(ASYNC_cleanup_thread)();
}

// 64 threads with 64 jobs each. Every eighth job is abandoned while it waits.
TEST_F(RsaLoad, ThreadsWithJobsThatGoAway) {
  if (!O(ASYNC_is_capable)()) GTEST_SKIP() << "this OpenSSL has no ASYNC jobs";
  // This runs in a child, because OpenSSL cannot cancel a job that is not resumed.
  const pid_t child = fork();
  if (child == 0) {
    const size_t kThreads = 64, each = scaled(64);
    std::atomic<size_t> right{0}, gone{0}, wrong{0};
    const auto work = [&](size_t thread) {
      std::deque<Job> jobs(each);
      const auto run = [&](size_t n) {
        Job &job = jobs[n];
        const int state = O(ASYNC_start_job)(&job.job, job.wait, &job.result, sign_in_job,
                                             &job.signing, sizeof job.signing);
        job.ended = state != ASYNC_PAUSE;
        if (job.ended) ++(state == ASYNC_FINISH && job.result == 1 ? right : wrong);
      };
      for (size_t n = 0; n < each; ++n) {
        jobs[n].signing = signing(thread + n);
        jobs[n].wait = O(ASYNC_WAIT_CTX_new)();
        run(n);
        if (jobs[n].ended || n % 8 != 0) continue;
        O(ASYNC_WAIT_CTX_free)(jobs[n].wait);
        jobs[n].ended = true;
        ++gone;
      }
      for (size_t n = 0; n < each; ++n) {
        while (!jobs[n].ended) {
          OSSL_ASYNC_FD descriptor = -1;
          size_t count = 1;
          pollfd polled{-1, POLLIN, 0};
          if (O(ASYNC_WAIT_CTX_get_all_fds)(jobs[n].wait, &descriptor, &count) == 1)
            polled.fd = descriptor;
          if (poll(&polled, 1, 300'000) == 1)
            run(n);
          else
            ++wrong, jobs[n].ended = true;
        }
      }
    };
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
    for (std::thread &thread : threads) thread.join();
    _exit(wrong == 0 && gone > 0 && right + gone == kThreads * each ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
}

// A job that holds a lock calls ASYNC_block_pause(), and is not paused.
TEST_F(RsaLoad, NoPauseWhereItIsBlocked) {
  if (!O(ASYNC_is_capable)()) GTEST_SKIP() << "this OpenSSL has no ASYNC jobs";
  Job job;
  job.wait = O(ASYNC_WAIT_CTX_new)();
  for (size_t n = 0; n < 8; ++n) {
    job.signing = signing(n);
    job.signing.block_pause = true;
    EXPECT_EQ(ASYNC_FINISH, O(ASYNC_start_job)(&job.job, job.wait, &job.result, sign_in_job,
                                               &job.signing, sizeof job.signing));
    EXPECT_EQ(1, job.result);
  }
  O(ASYNC_WAIT_CTX_free)(job.wait);
  O(ASYNC_cleanup_thread)();
}

// The jobs of these callers are never resumed, and their wait contexts are freed while the device
// works.
TEST_F(RsaLoad, CallersWhoGoAway) {
  if (!O(ASYNC_is_capable)()) GTEST_SKIP() << "this OpenSSL has no ASYNC jobs";
  // This runs in a child, because OpenSSL cannot cancel a job that is not resumed.
  const pid_t child = fork();
  if (child == 0) {
    std::deque<Job> jobs(300);
    int paused = 0;
    for (size_t n = 0; n < jobs.size(); ++n) {
      Job &job = jobs[n];
      job.signing = signing(n);
      job.wait = O(ASYNC_WAIT_CTX_new)();
      if (n % 2 == 0) O(ASYNC_WAIT_CTX_set_callback)(job.wait, count_call, &job);
      paused += O(ASYNC_start_job)(&job.job, job.wait, &job.result, sign_in_job, &job.signing,
                                   sizeof job.signing) == ASYNC_PAUSE;
      O(ASYNC_WAIT_CTX_free)(job.wait);
    }
    // Operations that begin in the meantime are done nevertheless.
    int right = 0;
    for (size_t n = 0; n < 20; ++n) right += sign_and_verify(signing(n));
    _exit(paused > 100 && right == 20 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
}

// A server reads its keys, signs, and forks its workers. The driver of a real device may not
// survive that: then the CPU signs.
TEST_F(RsaLoad, ChildrenOfForkSignToo) {
  const bool survives = rsa_devices() == "host";
  for (size_t n = 0; n < 4; ++n) EXPECT_EQ(1, sign_and_verify(signing(n)));
  std::vector<pid_t> children;
  for (int count = 0; count < 3; ++count) {
    const pid_t child = fork();
    if (child == 0) {
      int right = 0;
      for (size_t n = 0; n < 12; ++n) right += sign_and_verify(signing(n));
      if (right != 12) _exit(1);
      _exit((survives ? rsa_device_jobs(library) : rsa_jobs(library)) == 12 ? 0 : 2);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status)) << "by signal " << WTERMSIG(status);
    EXPECT_EQ(0, WEXITSTATUS(status)) << "1: a wrong signature; 2: not counted";
  }
  EXPECT_EQ(4u, rsa_jobs(library));
}

// A child of fork() inherits jobs that wait, but not the threads that would complete them.
TEST_F(RsaLoad, AChildGoesOnWithItsParentsJobs) {
  if (!O(ASYNC_is_capable)()) GTEST_SKIP() << "this OpenSSL has no ASYNC jobs";
  std::deque<Job> jobs(40);
  size_t paused = 0;
  const auto run = [](Job &job) {
    job.ended = O(ASYNC_start_job)(&job.job, job.wait, &job.result, sign_in_job, &job.signing,
                                   sizeof job.signing) == ASYNC_FINISH;
  };
  const auto end = [&](Job &job) {
    for (int times = 0; times < 100000 && !job.ended; ++times) run(job);
    O(ASYNC_WAIT_CTX_free)(job.wait);
    return job.ended && job.result == 1;
  };
  for (size_t n = 0; n < jobs.size(); ++n) {
    jobs[n].signing = signing(n);
    jobs[n].wait = O(ASYNC_WAIT_CTX_new)();
    run(jobs[n]);
    paused += !jobs[n].ended;
  }
  ASSERT_GT(paused, 4u);
  // Every second operation is complete when the child begins. Its result is in memory that is
  // zeroed in a child.
  for (size_t n = 0; n < jobs.size(); n += 2) {
    pollfd polled{-1, POLLIN, 0};
    size_t count = 1;
    if (jobs[n].ended) continue;
    ASSERT_EQ(1, O(ASYNC_WAIT_CTX_get_all_fds)(jobs[n].wait, &polled.fd, &count));
    ASSERT_EQ(1, poll(&polled, 1, 300'000));
  }
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    size_t right = 0;
    for (Job &job : jobs) right += end(job);
    _exit(right == jobs.size() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  for (Job &job : jobs) EXPECT_TRUE(end(job));
  O(ASYNC_cleanup_thread)();
}

TEST_F(RsaLoad, AChildDoesNotWaitForItsParentsCallbacks) {
  if (!O(ASYNC_is_capable)()) GTEST_SKIP() << "this OpenSSL has no ASYNC jobs";
  bool met = false;
  for (size_t n = 0; n < 40 && !met; ++n) {
    Meeting one;
    met = one.start(signing(n), Meeting::come);
    if (met) {
      ASSERT_TRUE(one.begins.wait());
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);
        O(ASYNC_WAIT_CTX_free)(one.job.wait);
        _exit(0);
      }
      int status = -1;
      ASSERT_EQ(child, waitpid(child, &status, 0));
      EXPECT_EQ(0, status) << "the child waits for a callback of its parent's";
      EXPECT_EQ(ASYNC_FINISH, O(ASYNC_start_job)(&one.job.job, one.job.wait, &one.job.result,
                                                 sign_in_job, nullptr, 0));
    }
    one.resumed.tell();
    EXPECT_EQ(1, one.job.result);
    O(ASYNC_WAIT_CTX_free)(one.job.wait);
  }
  EXPECT_TRUE(met);
  O(ASYNC_cleanup_thread)();
}

// A program that becomes a daemon closes descriptors that it does not know. Its own files may then
// get their numbers. A thread checks whether the number is still ours and then writes. If the
// program takes the number between these two steps, on a busy machine, its file gets eight bytes:
// that may happen once here, but not each time.
TEST_F(RsaLoad, NothingIsWrittenIntoTheProgramsFiles) {
  if (!O(ASYNC_is_capable)()) GTEST_SKIP() << "this OpenSSL has no ASYNC jobs";
  Job job;
  job.wait = O(ASYNC_WAIT_CTX_new)();
  int files = 0, written = 0;
  for (size_t n = 0; n < 40 && files < 3; ++n) {
    job.signing = signing(n);
    int state = O(ASYNC_start_job)(&job.job, job.wait, &job.result, sign_in_job, &job.signing,
                                   sizeof job.signing);
    if (state == ASYNC_PAUSE) {
      int descriptor = -1;
      size_t count = 1;
      ASSERT_EQ(1, O(ASYNC_WAIT_CTX_get_all_fds)(job.wait, &descriptor, &count));
      const int file = memfd_create("of the program", MFD_CLOEXEC);
      ASSERT_EQ(descriptor, dup2(file, descriptor));
      while (state == ASYNC_PAUSE)
        state = O(ASYNC_start_job)(&job.job, job.wait, &job.result, sign_in_job, nullptr, 0);
      struct stat entry;
      ASSERT_EQ(0, fstat(file, &entry));
      written += entry.st_size != 0;
      EXPECT_EQ(0, close(file));
      // The descriptor is still the program's.
      EXPECT_EQ(0, close(descriptor));
      ++files;
    }
    EXPECT_EQ(ASYNC_FINISH, state);
    EXPECT_EQ(1, job.result);
  }
  EXPECT_EQ(3, files);
  EXPECT_LE(written, 1);
  O(ASYNC_WAIT_CTX_free)(job.wait);
  O(ASYNC_cleanup_thread)();
}

}  // namespace
}  // namespace provider_test
