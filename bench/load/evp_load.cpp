// SPDX-License-Identifier: Apache-2.0
#include "bench/load/evp_load.h"

#include <openssl/async.h>
#include <openssl/rsa.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "bench/load/pass.h"
#include "cli/failure.h"

namespace lanecrypt::bench {
namespace {

constexpr size_t kMostSignatureBytes = 2048;
constexpr int kMostWaitMs = 20000;
// How often the measuring thread checks whether the load has ended.
constexpr std::chrono::milliseconds kLook{100};

struct alignas(64) Count {
  std::atomic<uint64_t> signatures{0}, failures{0};
};

struct Stage {
  const Load &load;
  std::vector<Count> counts;
  std::atomic<bool> stop{false};
  std::atomic<const char *> error{nullptr};

  EVP_PKEY *key_of(size_t thread) const { return load.keys[thread % load.keys.size()]; }
  // Stops the load. The first reason is reported.
  void give_up(const char *reason) {
    const char *none = nullptr;
    error.compare_exchange_strong(none, reason);
    stop = true;
  }
};

void count(Count &counts, bool right) {
  (right ? counts.signatures : counts.failures).fetch_add(1, std::memory_order_relaxed);
}

void sign_messages(Stage &stage, size_t thread) {
  const Load &load = stage.load;
  Count &counts = stage.counts[thread];
  uint8_t signature[kMostSignatureBytes], message[64] = {1, 2, 3};
  while (!stage.stop.load(std::memory_order_relaxed)) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t bytes = sizeof signature;
    const bool right = EVP_DigestSignInit_ex(context, nullptr, "SHA256", load.library,
                                             load.properties, stage.key_of(thread), nullptr) == 1 &&
                       EVP_DigestSign(context, signature, &bytes, message, sizeof message) == 1;
    EVP_MD_CTX_free(context);
    count(counts, right);
  }
}

struct JobArgument {
  Stage *stage;
  size_t thread;
};

int sign_in_job(void *argument) {
  const JobArgument &given = *static_cast<JobArgument *>(argument);
  Stage &stage = *given.stage;
  const Load &load = stage.load;
  uint8_t signature[kMostSignatureBytes], digest[32] = {1, 2, 3};
  EVP_PKEY_CTX *context =
      EVP_PKEY_CTX_new_from_pkey(load.library, stage.key_of(given.thread), load.properties);
  const bool ready = EVP_PKEY_sign_init(context) == 1 &&
                     EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1 &&
                     EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()) == 1;
  while (!stage.stop.load(std::memory_order_relaxed)) {
    size_t bytes = sizeof signature;
    count(stage.counts[given.thread],
          ready && EVP_PKEY_sign(context, signature, &bytes, digest, sizeof digest) == 1);
  }
  EVP_PKEY_CTX_free(context);
  return 1;
}

struct Job {
  ASYNC_JOB *job = nullptr;
  ASYNC_WAIT_CTX *wait = nullptr;
  bool is_polled = false;
};

// Runs the jobs of one thread in an event loop like that of a server. After a failure, paused
// jobs are left as they are, because the command ends.
void run_jobs(Stage &stage, size_t thread) {
  const size_t total = stage.load.jobs;
  if (ASYNC_init_thread(total, total) != 1) return stage.give_up("this OpenSSL has no ASYNC jobs");
  const int events = epoll_create1(EPOLL_CLOEXEC);
  JobArgument argument{&stage, thread};
  std::vector<Job> jobs(total);
  size_t running = total;
  // Starts or resumes `job`. Returns why the job cannot continue, or nullptr.
  const auto resume = [&](Job &job) -> const char * {
    int result = 0;
    const int state =
        ASYNC_start_job(&job.job, job.wait, &result, sign_in_job, &argument, sizeof argument);
    if (state == ASYNC_FINISH) {
      --running;
      return nullptr;
    }
    if (state != ASYNC_PAUSE) return "a job of ASYNC did not start";
    if (job.is_polled) return nullptr;
    OSSL_ASYNC_FD descriptor;
    size_t descriptors = 0;
    ASYNC_WAIT_CTX_get_all_fds(job.wait, nullptr, &descriptors);
    if (descriptors != 1) return "a job of ASYNC paused without a descriptor";
    ASYNC_WAIT_CTX_get_all_fds(job.wait, &descriptor, &descriptors);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &job;
    if (epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &event) != 0)
      return "cannot wait for a job of ASYNC";
    job.is_polled = true;
    return nullptr;
  };
  const char *error = nullptr;
  for (Job &job : jobs) {
    job.wait = ASYNC_WAIT_CTX_new();
    if ((error = resume(job)) != nullptr) return stage.give_up(error);
  }
  std::vector<epoll_event> ready(total);
  while (running > 0) {
    const int number = epoll_wait(events, ready.data(), int(ready.size()), kMostWaitMs);
    if (number == 0) return stage.give_up("no job of ASYNC was woken for 20 s");
    for (int n = 0; n < number; ++n)
      if ((error = resume(*static_cast<Job *>(ready[size_t(n)].data.ptr))) != nullptr)
        return stage.give_up(error);
  }
  for (Job &job : jobs) ASYNC_WAIT_CTX_free(job.wait);
  close(events);
  ASYNC_cleanup_thread();
}

}  // namespace

Work run_load(const Load &load, double warm_up_seconds, double seconds) {
  using Clock = std::chrono::steady_clock;
  Stage stage{load, std::vector<Count>(load.threads)};
  std::vector<std::thread> threads;
  try {
    for (size_t n = 0; n < load.threads; ++n)
      threads.emplace_back([&stage, n] {
        if (stage.load.jobs == 0)
          sign_messages(stage, n);
        else
          run_jobs(stage, n);
      });
  } catch (const std::system_error &) {
    stage.give_up("the system gives no more threads");
  }
  const auto sum = [&](std::atomic<uint64_t> Count::*member) {
    uint64_t total = 0;
    for (const Count &counts : stage.counts) total += counts.*member;
    return total;
  };
  const auto work_for = [&](double period) {
    const auto end = Clock::now() + std::chrono::duration<double>(period);
    while (!stage.stop && Clock::now() < end)
      std::this_thread::sleep_until(std::min<Clock::time_point>(
          std::chrono::time_point_cast<Clock::duration>(end), Clock::now() + kLook));
  };
  work_for(warm_up_seconds);
  const uint64_t before = sum(&Count::signatures);
  const double cpu_before = cpu_seconds();
  const Clock::time_point began = Clock::now();
  work_for(seconds);
  const uint64_t made = sum(&Count::signatures) - before;
  const double cpu = cpu_seconds() - cpu_before,
               took = std::chrono::duration<double>(Clock::now() - began).count();
  stage.stop = true;
  for (std::thread &thread : threads) thread.join();
  if (const char *error = stage.error) throw cli::Failure(cli::ExitCode::kFailed, error);
  if (const uint64_t failures = sum(&Count::failures); failures > 0)
    throw cli::Failure(cli::ExitCode::kFailed, std::to_string(failures) + " signatures failed");
  return {double(made) / took, cpu / took};
}

}  // namespace lanecrypt::bench
