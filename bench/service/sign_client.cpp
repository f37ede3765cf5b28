// One of many processes that sign concurrently with RSA, ML-DSA or SLH-DSA, like the workers of a
// server. It uses only OpenSSL; OPENSSL_CONF decides which provider computes.
//
// Usage: sign_client keys=FILE[,FILE...] [jobs=N | threads=N] [verify=ends|all]
//   keys     private keys in PEM; job or thread n uses key n modulo their number
//   jobs     one thread with N ASYNC jobs, like `openssl speed -async_jobs`
//   threads  N threads, each of which waits for its signature (default 1)
//   verify   ends: verify the first and the last signature of each job or thread; all: every one
//
// Uses the protocol of windows.h and prints one line of JSON per window.
//
// SPDX-License-Identifier: Apache-2.0
#include <openssl/async.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "bench/service/windows.h"

namespace lanecrypt::bench {
namespace {

constexpr int kMostWaitMs = 30000;
constexpr size_t kMostSignatureBytes = 49856;
constexpr size_t kDigestBytes = 32;

[[noreturn]] void fail(const std::string &what) {
  fprintf(stderr, "sign_client: %s\n", what.c_str());
  ERR_print_errors_fp(stderr);
  // Paused jobs cannot be cleaned up, so exit handlers do not run.
  _exit(1);
}

// A key loaded twice: with the program's configuration, and in a library context without any.
struct Key {
  EVP_PKEY *own, *plain;
  OSSL_LIB_CTX *library;  // of `plain`
};

// The operations of one job or thread.
struct Stream {
  EVP_PKEY_CTX *sign = nullptr, *verify = nullptr;  // for RSA
  const Key *key = nullptr;
  EVP_MD_CTX *hash = nullptr;  // for a key that hashes messages itself
  uint64_t number = 0, count = 0;
  // On the heap, because the stack of a job is small.
  std::vector<uint8_t> signature = std::vector<uint8_t>(kMostSignatureBytes);
  // Counts of the current window.
  uint64_t operations = 0, failures = 0, wrong = 0;
  Latencies latencies;
};

// What all streams do now.
struct Task {
  Window window;
  bool is_round = false;  // one verified operation of each stream
  bool verify_all = false;
  std::atomic<bool> has_begun{false}, has_ended{false};
  double cpu_at_begin = 0, cpu_at_end = 0;
};

EVP_PKEY *read_key(const std::string &path, OSSL_LIB_CTX *library) {
  BIO *file = BIO_new_file(path.c_str(), "r");
  EVP_PKEY *key = file == nullptr ? nullptr
                                  : PEM_read_bio_PrivateKey_ex(file, nullptr, nullptr, nullptr,
                                                               library, nullptr);
  BIO_free(file);
  if (key == nullptr) fail("cannot read the key " + path);
  return key;
}

EVP_PKEY_CTX *context_of(EVP_PKEY *key, OSSL_LIB_CTX *library, int (*init)(EVP_PKEY_CTX *)) {
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(library, key, nullptr);
  if (context == nullptr || init(context) != 1 ||
      EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) != 1 ||
      EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()) != 1)
    fail("cannot begin to sign");
  return context;
}

bool sign_with(Stream &stream, uint8_t *signature, size_t *bytes, const uint8_t *digest) {
  if (stream.sign != nullptr)
    return EVP_PKEY_sign(stream.sign, signature, bytes, digest, kDigestBytes) == 1;
  return EVP_DigestSignInit_ex(stream.hash, nullptr, nullptr, nullptr, nullptr, stream.key->own,
                               nullptr) == 1 &&
         EVP_DigestSign(stream.hash, signature, bytes, digest, kDigestBytes) == 1;
}

bool is_right(Stream &stream, const uint8_t *signature, size_t bytes, const uint8_t *digest) {
  if (stream.verify != nullptr)
    return EVP_PKEY_verify(stream.verify, signature, bytes, digest, kDigestBytes) == 1;
  return EVP_DigestVerifyInit_ex(stream.hash, nullptr, nullptr, stream.key->library, nullptr,
                                 stream.key->plain, nullptr) == 1 &&
         EVP_DigestVerify(stream.hash, signature, bytes, digest, kDigestBytes) == 1;
}

// Signs one digest. All digests differ, so that a signature of another operation is recognised as
// wrong.
void sign_once(Stream &stream, bool verifies) {
  uint8_t digest[kDigestBytes] = {};
  const uint64_t words[] = {uint64_t(getpid()), stream.number, ++stream.count};
  memcpy(digest, words, sizeof words);
  size_t bytes = stream.signature.size();
  if (!sign_with(stream, stream.signature.data(), &bytes, digest)) {
    ++stream.failures;
    ERR_print_errors_fp(stderr);
  } else if (verifies && !is_right(stream, stream.signature.data(), bytes, digest)) {
    ++stream.wrong;
  }
}

void note_cpu(std::atomic<bool> &is_noted, double &at) {
  if (!is_noted.load(std::memory_order_relaxed) && !is_noted.exchange(true)) at = cpu_seconds();
}

void work(Stream &stream, Task &task) {
  if (task.is_round) return sign_once(stream, true);
  uint64_t before = now_ns();
  while (before < task.window.end_ns) {
    if (before >= task.window.begin_ns) note_cpu(task.has_begun, task.cpu_at_begin);
    sign_once(stream, task.verify_all);
    const uint64_t after = now_ns();
    if (task.window.holds(after)) {
      ++stream.operations;
      if (before >= task.window.begin_ns) stream.latencies.add(after - before);
    }
    before = after;
  }
  note_cpu(task.has_ended, task.cpu_at_end);
}

struct JobArgument {
  Stream *stream;
  Task *task;
};

int work_in_job(void *argument) {
  const JobArgument &given = *static_cast<JobArgument *>(argument);
  work(*given.stream, *given.task);
  return 1;
}

// The ASYNC jobs of this thread, in an event loop like that of a server.
class Jobs {
 public:
  explicit Jobs(size_t count) : jobs_(count), ready_(count) {
    if (ASYNC_init_thread(count, count) != 1) fail("this OpenSSL has no ASYNC jobs");
    events_ = epoll_create1(EPOLL_CLOEXEC);
  }

  // Runs the task in one job per stream, and returns when all have finished.
  void run(std::vector<Stream> &streams, Task &task) {
    running_ = jobs_.size();
    for (size_t n = 0; n < jobs_.size(); ++n) {
      jobs_[n] = {nullptr, ASYNC_WAIT_CTX_new(), {&streams[n], &task}};
      resume(jobs_[n]);
    }
    while (running_ > 0) {
      const int number = epoll_wait(events_, ready_.data(), int(ready_.size()), kMostWaitMs);
      if (number == 0) fail("no job of ASYNC was woken for 30 s");
      for (int n = 0; n < number; ++n) resume(*static_cast<Job *>(ready_[size_t(n)].data.ptr));
    }
    for (Job &job : jobs_) ASYNC_WAIT_CTX_free(job.wait);
  }

 private:
  struct Job {
    ASYNC_JOB *job = nullptr;
    ASYNC_WAIT_CTX *wait = nullptr;
    JobArgument argument = {};
  };

  void resume(Job &job) {
    if (job.job == nullptr && job.argument.stream == nullptr) return;
    int result = 0;
    const int state = ASYNC_start_job(&job.job, job.wait, &result, work_in_job, &job.argument,
                                      sizeof job.argument);
    if (state != ASYNC_FINISH && state != ASYNC_PAUSE) fail("a job of ASYNC did not start");
    watch(job);
    if (state != ASYNC_FINISH) return;
    job.job = nullptr;
    job.argument.stream = nullptr;
    --running_;
  }

  // Updates the epoll set with the job's descriptors. A provider may use another one for each
  // wait.
  void watch(Job &job) {
    size_t added = 0, deleted = 0;
    ASYNC_WAIT_CTX_get_changed_fds(job.wait, nullptr, &added, nullptr, &deleted);
    std::vector<OSSL_ASYNC_FD> add(added + 1), remove(deleted + 1);
    ASYNC_WAIT_CTX_get_changed_fds(job.wait, add.data(), &added, remove.data(), &deleted);
    // Fails if the provider has closed the descriptor, which also removes it.
    for (size_t n = 0; n < deleted; ++n) epoll_ctl(events_, EPOLL_CTL_DEL, remove[n], nullptr);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &job;
    for (size_t n = 0; n < added; ++n)
      if (epoll_ctl(events_, EPOLL_CTL_ADD, add[n], &event) != 0)
        fail("cannot wait for a job of ASYNC");
  }

  std::vector<Job> jobs_;
  std::vector<epoll_event> ready_;
  size_t running_ = 0;
  int events_ = -1;
};

// The provider's counters as members of a JSON object.
std::string counters() {
  std::string text;
  if (OSSL_PROVIDER_available(nullptr, "gpu") != 1) return text;
  OSSL_PROVIDER *provider = OSSL_PROVIDER_load(nullptr, "gpu");
  if (provider == nullptr) return text;
  for (const OSSL_PARAM *param = OSSL_PROVIDER_gettable_params(provider);
       param != nullptr && param->key != nullptr; ++param) {
    if (strstr(param->key, "-jobs") == nullptr) continue;
    uint64_t value = 0;
    OSSL_PARAM params[] = {OSSL_PARAM_construct_uint64(param->key, &value), OSSL_PARAM_END};
    if (OSSL_PROVIDER_get_params(provider, params) == 1)
      text += std::string(", \"") + (param->key + 10) + "\": " + std::to_string(value);
  }
  OSSL_PROVIDER_unload(provider);
  return text;
}

class Client {
 public:
  Client(const std::vector<std::string> &paths, size_t threads, size_t jobs, bool verify_all)
      : streams_(jobs != 0 ? jobs : threads), verify_all_(verify_all) {
    OSSL_LIB_CTX *plain = OSSL_LIB_CTX_new();
    for (const std::string &path : paths)
      keys_.push_back({read_key(path, nullptr), read_key(path, plain), plain});
    for (size_t n = 0; n < streams_.size(); ++n) {
      const Key &key = keys_[n % keys_.size()];
      streams_[n].number = n;
      streams_[n].key = &key;
      streams_[n].hash = EVP_MD_CTX_new();
      if (EVP_PKEY_is_a(key.own, "RSA") != 1) continue;
      streams_[n].sign = context_of(key.own, nullptr, EVP_PKEY_sign_init);
      streams_[n].verify = context_of(key.plain, plain, EVP_PKEY_verify_init);
    }
    if (jobs != 0) jobs_ = new Jobs(jobs);
  }

  // Does one verified operation of each stream.
  void round() {
    Task task;
    task.is_round = true;
    run(task);
  }

  std::string measure(const Window &window) {
    for (Stream &stream : streams_) {
      stream.operations = stream.failures = stream.wrong = 0;
      stream.latencies = {};
    }
    Task task;
    task.window = window;
    task.verify_all = verify_all_;
    round();
    run(task);
    round();
    uint64_t operations = 0, failures = 0, wrong = 0, all = 0;
    Latencies latencies;
    for (const Stream &stream : streams_) {
      operations += stream.operations;
      failures += stream.failures;
      wrong += stream.wrong;
      all += stream.count;
      latencies.add(stream.latencies);
    }
    char text[256];
    snprintf(text, sizeof text,
             "{\"operations\": %llu, \"failures\": %llu, \"wrong\": %llu, \"all\": %llu, "
             "\"cpu_seconds\": %.6f",
             (unsigned long long)operations, (unsigned long long)failures,
             (unsigned long long)wrong, (unsigned long long)all,
             task.has_begun ? task.cpu_at_end - task.cpu_at_begin : 0);
    return text + counters() + ", \"latencies\": " + latencies.json() + "}";
  }

 private:
  void run(Task &task) {
    if (jobs_ != nullptr) return jobs_->run(streams_, task);
    if (streams_.size() == 1) return work(streams_.front(), task);
    std::vector<std::thread> threads;
    for (Stream &stream : streams_) threads.emplace_back([&] { work(stream, task); });
    for (std::thread &thread : threads) thread.join();
  }

  std::vector<Key> keys_;  // streams point to them
  std::vector<Stream> streams_;
  Jobs *jobs_ = nullptr;
  const bool verify_all_;
};

}  // namespace
}  // namespace lanecrypt::bench

int main(int count, char **words) {
  using namespace lanecrypt::bench;
  std::map<std::string, std::string> values = words_of(count, words);
  std::vector<std::string> keys;
  for (size_t from = 0; from <= values["keys"].size();) {
    const size_t to = std::min(values["keys"].find(',', from), values["keys"].size());
    keys.push_back(values["keys"].substr(from, to - from));
    from = to + 1;
  }
  const size_t threads = std::max(1, atoi(values["threads"].c_str())),
               jobs = size_t(atoi(values["jobs"].c_str()));
  raise_file_limit();
  // Never freed, since the process ends.
  Client *client = new Client(keys, threads, jobs, values["verify"] == "all");
  client->round();
  return serve_windows([&](const Window &window) { return client->measure(window); });
}
