// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fake_library.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "abi/rsa_primes.h"
#include "fuzz/script.h"
#include "lanecrypt/lanecrypt.h"
#include "service/wire/operation_kind.h"

// A key of any family: the length of its outputs and a reference count.
struct FakeKey {
  virtual ~FakeKey() = default;
  size_t bytes = 0;
  std::atomic<int> uses{1};
};
struct lc_rsa_key : FakeKey {};
struct lc_ml_dsa_key : FakeKey {};
struct lc_slh_dsa_key : FakeKey {};

namespace lanecrypt::fuzz {
namespace {

std::atomic<size_t> keys{0};

void use(const FakeKey *key) { ++const_cast<FakeKey *>(key)->uses; }
void leave(const FakeKey *key) {
  if (--const_cast<FakeKey *>(key)->uses > 0) return;
  --keys;
  delete key;
}

// A submitted job, with a reference to its key.
struct Job {
  const FakeKey *key;
  const uint8_t *in;
  uint8_t *out;
  lc_completion completion;
};

// Returns the status with which a job ends: LC_OK, unless the first byte of its input says
// otherwise.
lc_status end_of(const uint8_t *in) {
  switch (in[0]) {
    case 0xf1:
      return LC_ERROR_ARGUMENT;
    case 0xf2:
      return LC_ERROR_UNSUPPORTED;
    case 0xf3:
      return LC_ERROR_MEMORY;
    case 0xf4:
      return LC_ERROR_NO_DEVICE;
    case 0xf5:
      return LC_ERROR_DEVICE;
    default:
      return LC_OK;
  }
}

}  // namespace

size_t keys_of_library() { return keys; }

}  // namespace lanecrypt::fuzz

using namespace lanecrypt::fuzz;

struct lc_context {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;
  bool stopping = false;
  std::thread thread{[this] { run(); }};

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return stopping || !jobs.empty(); });
      if (jobs.empty()) return;
      // All waiting jobs are one batch.
      std::deque<Job> batch;
      batch.swap(jobs);
      lock.unlock();
      for (const Job &job : batch) {
        const lc_status status = end_of(job.in);
        if (status == LC_OK) std::memset(job.out, 0x5a, job.key->bytes);
        if (job.completion.result != nullptr) job.completion.result->device_operations = 1;
        leave(job.key);
        job.completion.callback(job.completion.argument, status);
      }
      lock.lock();
    }
  }
};

namespace {

const lanecrypt::service::SignatureSet &slh_dsa_set(uint32_t number) {
  return *lanecrypt::service::find_set({lanecrypt::service::Family::kSlhDsa, number});
}

lc_status begin(lc_context *context, const FakeKey *key, const void *from, void *out,
                const lc_completion *completion) {
  require(completion->callback != nullptr);
  const auto *const in = static_cast<const uint8_t *>(from);
  // Some jobs are refused.
  if (in[0] == 0xfe) return LC_ERROR_ARGUMENT;
  if (in[0] == 0xff) return LC_ERROR_NO_DEVICE;
  use(key);
  const std::lock_guard lock(context->mutex);
  context->jobs.push_back({key, in, static_cast<uint8_t *>(out), *completion});
  context->changed.notify_all();
  return LC_OK;
}

}  // namespace

extern "C" {

const char *lc_version(void) { return "0"; }
const char *lc_last_error(void) { return "the fake library says so"; }

lc_status lc_open(const lc_options *, lc_context **context) {
  *context = new lc_context;
  return LC_OK;
}

void lc_close(lc_context *context) {
  {
    const std::lock_guard lock(context->mutex);
    context->stopping = true;
    context->changed.notify_all();
  }
  context->thread.join();
  delete context;
}

lc_status lc_device_count(lc_context *, uint32_t *count) {
  *count = 1;
  return LC_OK;
}

lc_status lc_device_get(lc_context *, uint32_t, lc_device_info *info) {
  std::strcpy(info->id, "fake:0");
  info->selected = 1;
  info->state = info->rsa_state = info->ml_dsa_state = info->slh_dsa_state = LC_DEVICE_READY;
  return LC_OK;
}

lc_status lc_counters_get(lc_context *, uint32_t, lc_counters *) { return LC_OK; }

lc_status lc_rsa_key_new(const lc_rsa_parts *parts, lc_rsa_key **key) {
  const auto *const e = static_cast<const uint8_t *>(parts->e.bytes);
  // Refuses keys with an even exponent, so that both cases occur.
  if (parts->e.length == 0 || e[parts->e.length - 1] % 2 == 0) return LC_ERROR_ARGUMENT;
  const auto *const n = static_cast<const uint8_t *>(parts->n.bytes);
  size_t zeros = 0;
  while (zeros < parts->n.length && n[zeros] == 0) ++zeros;
  ++keys;
  *key = new lc_rsa_key;
  (*key)->bytes = parts->n.length - zeros;
  return LC_OK;
}

void lc_rsa_key_free(lc_rsa_key *key) {
  if (key != nullptr) leave(key);
}

// Refuses some keys, so that both cases occur.
int lc_rsa_key_has_primes(const lc_rsa_key *key) { return key->bytes % 8 != 7 ? 1 : 0; }

size_t lc_rsa_key_bytes(const lc_rsa_key *key) { return key->bytes; }

lc_status lc_rsa_run(lc_context *, const lc_rsa_job *, lc_result *) { return LC_OK; }

lc_status lc_rsa_submit(lc_context *context, const lc_rsa_job *job, const lc_completion *completion,
                        lc_ticket **) {
  require(job->message_count == 1);
  const lc_rsa_message &message = *job->messages;
  return begin(context, message.key, message.in, message.out, completion);
}

lc_status lc_ml_dsa_key_new(const lc_ml_dsa_parts *parts, lc_ml_dsa_key **key) {
  // Refuses keys with an even first byte, so that both cases occur.
  const auto *const secret = static_cast<const uint8_t *>(parts->private_key);
  if (secret != nullptr && secret[0] % 2 == 0) return LC_ERROR_ARGUMENT;
  ++keys;
  *key = new lc_ml_dsa_key;
  (*key)->bytes = parts->set == LC_ML_DSA_44 ? 2420 : parts->set == LC_ML_DSA_65 ? 3309 : 4627;
  return LC_OK;
}

void lc_ml_dsa_key_free(lc_ml_dsa_key *key) {
  if (key != nullptr) leave(key);
}

lc_status lc_ml_dsa_run(lc_context *, const lc_ml_dsa_job *, lc_result *) { return LC_OK; }

lc_status lc_ml_dsa_submit(lc_context *context, const lc_ml_dsa_job *job,
                           const lc_completion *completion, lc_ticket **) {
  const lc_ml_dsa_message &message = *job->messages;
  require(job->message_count == 1 && job->encoding == LC_MESSAGE_MU);
  require(message.message_bytes == 64 && message.random != nullptr);
  require(message.signature_bytes == message.key->bytes);
  return begin(context, message.key, message.message, message.signature, completion);
}

// The root consists of the first byte of the seeds, so that some keys of the script are refused.
lc_status lc_slh_dsa_generate(lc_context *, const lc_slh_dsa_generation *generation, lc_result *) {
  const auto *const seeds = static_cast<const uint8_t *>(generation->seeds);
  if (seeds[0] == 0xf4) return LC_ERROR_NO_DEVICE;
  const size_t n = slh_dsa_set(generation->set).key_bytes / 3;
  auto *const made = static_cast<uint8_t *>(generation->keys);
  std::memcpy(made, seeds, 3 * n);
  std::memset(made + 3 * n, seeds[0], n);
  return LC_OK;
}

lc_status lc_slh_dsa_key_new(const lc_slh_dsa_parts *parts, lc_slh_dsa_key **key) {
  require(parts->private_key_bytes == slh_dsa_set(parts->set).key_bytes / 3 * 4);
  ++keys;
  *key = new lc_slh_dsa_key;
  (*key)->bytes = slh_dsa_set(parts->set).signature_bytes;
  return LC_OK;
}

void lc_slh_dsa_key_free(lc_slh_dsa_key *key) {
  if (key != nullptr) leave(key);
}

lc_status lc_slh_dsa_run(lc_context *, const lc_slh_dsa_job *, lc_result *) { return LC_OK; }

lc_status lc_slh_dsa_submit(lc_context *context, const lc_slh_dsa_job *job,
                            const lc_completion *completion, lc_ticket **) {
  const lc_slh_dsa_message &message = *job->messages;
  require(job->message_count == 1 && job->encoding == LC_MESSAGE_DIGEST);
  require(message.context_bytes == 0 && message.additional_random == nullptr);
  require(message.signature_bytes == message.key->bytes);
  return begin(context, message.key, message.message, message.signature, completion);
}

int lc_rsa_generation_prefers_device(lc_context *, uint32_t bits) { return bits != 1024; }

lc_status lc_rsa_generate(lc_context *, const lc_rsa_generation *generation, lc_result *) {
  if (generation->on_progress != nullptr) {
    const lc_rsa_progress progress{};
    if (generation->on_progress(generation->argument, &progress) == 0) return LC_ERROR_STOPPED;
  }
  const auto *const e = static_cast<const uint8_t *>(generation->exponent.bytes);
  if (generation->exponent.length != 0 && e[generation->exponent.length - 1] % 2 == 0)
    return LC_ERROR_ARGUMENT;
  std::vector<uint8_t> number(generation->bits / 8, 0xa5);
  lc_rsa_parts parts{};
  parts.struct_size = sizeof parts;
  for (lc_number *part :
       {&parts.n, &parts.p, &parts.q, &parts.dp, &parts.dq, &parts.qinv, &parts.d})
    *part = {number.data(), number.size()};
  static const uint8_t kExponent[] = {1, 0, 1};
  parts.e = {kExponent, sizeof kExponent};
  return generation->on_key(generation->argument, 0, &parts) == 1 ? LC_OK : LC_ERROR_STOPPED;
}

}  // extern "C"
