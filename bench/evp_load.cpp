// SPDX-License-Identifier: Apache-2.0
#include "evp_load.h"

#include <openssl/async.h>
#include <openssl/rsa.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace lanecrypt::bench {
namespace {

constexpr size_t kMostSignatureBytes = 2048;

struct alignas(64) Count {
  std::atomic<uint64_t> signatures{0}, failures{0};
};

struct Stage {
  const Load &load;
  std::vector<Count> counts;
  std::atomic<bool> stop{false};
};

[[noreturn]] void give_up(const char *what) {
  std::fprintf(stderr, "evp_rsa_bench: %s\n", what);
  std::exit(1);
}

void count(Count &counts, bool right) {
  (right ? counts.signatures : counts.failures).fetch_add(1, std::memory_order_relaxed);
}

void sign_messages(Stage &stage, Count &counts) {
  const Load &load = stage.load;
  uint8_t signature[kMostSignatureBytes], message[64] = {1, 2, 3};
  while (!stage.stop.load(std::memory_order_relaxed)) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t bytes = sizeof signature;
    const bool right = EVP_DigestSignInit_ex(context, nullptr, "SHA256", load.library,
                                             load.properties, load.key, nullptr) == 1 &&
                       EVP_DigestSign(context, signature, &bytes, message, sizeof message) == 1;
    EVP_MD_CTX_free(context);
    count(counts, right);
  }
}

struct JobArgument {
  Stage *stage;
  Count *counts;
};

int sign_in_job(void *argument) {
  const JobArgument &given = *static_cast<JobArgument *>(argument);
  const Load &load = given.stage->load;
  uint8_t signature[kMostSignatureBytes], digest[32] = {1, 2, 3};
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(load.library, load.key, load.properties);
  const bool ready = EVP_PKEY_sign_init(context) == 1 &&
                     EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1 &&
                     EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()) == 1;
  while (!given.stage->stop.load(std::memory_order_relaxed)) {
    size_t bytes = sizeof signature;
    count(*given.counts,
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

// One thread with its jobs: an event loop, as a server's.
void run_jobs(Stage &stage, Count &counts) {
  const size_t total = stage.load.jobs;
  if (ASYNC_init_thread(total, total) != 1) give_up("this OpenSSL has no ASYNC jobs");
  const int events = epoll_create1(EPOLL_CLOEXEC);
  JobArgument argument{&stage, &counts};
  std::vector<Job> jobs(total);
  size_t running = total;
  const auto resume = [&](Job &job) {
    int result = 0;
    const int state =
        ASYNC_start_job(&job.job, job.wait, &result, sign_in_job, &argument, sizeof argument);
    if (state == ASYNC_FINISH) {
      --running;
      return;
    }
    if (state != ASYNC_PAUSE) give_up("a job did not start");
    if (job.is_polled) return;
    OSSL_ASYNC_FD descriptor;
    size_t descriptors = 0;
    ASYNC_WAIT_CTX_get_all_fds(job.wait, nullptr, &descriptors);
    if (descriptors != 1) give_up("a job paused without a descriptor");
    ASYNC_WAIT_CTX_get_all_fds(job.wait, &descriptor, &descriptors);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &job;
    if (epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &event) != 0) give_up("epoll_ctl failed");
    job.is_polled = true;
  };
  for (Job &job : jobs) {
    job.wait = ASYNC_WAIT_CTX_new();
    resume(job);
  }
  std::vector<epoll_event> ready(total);
  while (running > 0) {
    const int number = epoll_wait(events, ready.data(), int(ready.size()), 20000);
    if (number == 0) give_up("no job was woken for 20 s");
    for (int n = 0; n < number; ++n) resume(*static_cast<Job *>(ready[size_t(n)].data.ptr));
  }
  for (Job &job : jobs) ASYNC_WAIT_CTX_free(job.wait);
  close(events);
  ASYNC_cleanup_thread();
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval &time) {
    return double(time.tv_sec) + double(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

Work run_load(const Load &load, double warm_up_seconds, double seconds) {
  using Clock = std::chrono::steady_clock;
  Stage stage{load, std::vector<Count>(load.threads)};
  std::vector<std::thread> threads;
  for (Count &counts : stage.counts)
    threads.emplace_back([&] {
      if (load.jobs == 0)
        sign_messages(stage, counts);
      else
        run_jobs(stage, counts);
    });
  const auto total = [&] {
    uint64_t sum = 0;
    for (const Count &counts : stage.counts) sum += counts.signatures;
    return sum;
  };
  std::this_thread::sleep_for(std::chrono::duration<double>(warm_up_seconds));
  const uint64_t before = total();
  const double cpu_before = cpu_seconds();
  const Clock::time_point began = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const uint64_t made = total() - before;
  const double cpu = cpu_seconds() - cpu_before,
               took = std::chrono::duration<double>(Clock::now() - began).count();
  stage.stop = true;
  for (std::thread &thread : threads) thread.join();
  uint64_t failures = 0;
  for (const Count &counts : stage.counts) failures += counts.failures;
  return {double(made) / took, cpu / took, failures};
}

}  // namespace lanecrypt::bench
