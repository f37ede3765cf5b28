// SPDX-License-Identifier: Apache-2.0
#include "job/hash_job.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "job/enum_number.h"
#include "job/overlap.h"
#include "job/read_struct.h"

namespace lanecrypt {
namespace {

constexpr uint64_t kMostDigestBytes = uint64_t{1} << 30, kMostText = 1 << 20;
constexpr uint64_t kBlake3Chunk = 1024, kBlake3KeyBytes = 32;

bool is_memory(const lc_memory &memory) {
  const uint32_t number = enum_number(memory);
  return number == LC_MEMORY_HOST || number == LC_MEMORY_DEVICE;
}

Status read_spec(const lc_hash_job &job, HashSpec *spec) {
  const HashMethod *const method = find_hash_method(job.hash);
  if (method == nullptr) return wrong_argument("unknown hash");
  const std::string name(method->name);
  spec->method = method;
  spec->digest_bytes = job.digest_bytes == 0 ? method->digest_bytes : job.digest_bytes;
  if (!method->any_digest_bytes && spec->digest_bytes != method->digest_bytes)
    return wrong_argument("a digest of " + name + " has " + std::to_string(method->digest_bytes) +
                          " bytes");
  if (spec->digest_bytes > kMostDigestBytes)
    return wrong_argument("a digest has more than 2^30 bytes");

  if (method->has_leaf_bytes()) {
    if (job.leaf_bytes == 0) return wrong_argument(name + " needs leaf_bytes");
    spec->leaf_bytes = job.leaf_bytes;
  } else {
    if (job.leaf_bytes != 0) return wrong_argument(name + " has no leaf_bytes");
    spec->leaf_bytes = kBlake3Chunk;
  }

  if (method->has_key != (job.key != nullptr))
    return wrong_argument(name + (method->has_key ? " needs a key" : " has no key"));
  if (method->has_key) {
    if (job.key_bytes != kBlake3KeyBytes)
      return wrong_argument("a key of " + name + " has 32 bytes");
    spec->key = secure::KeyMemory(kBlake3KeyBytes);
    if (!spec->key.ok(kBlake3KeyBytes)) return Status(LC_ERROR_MEMORY, "no memory for the key");
    std::memcpy(spec->key.data(), job.key, kBlake3KeyBytes);
  }
  if (!method->has_text && job.text_bytes != 0)
    return wrong_argument(name + " has no text beside messages");
  if (job.text_bytes > kMostText) return wrong_argument("the text has more than 2^20 bytes");
  if (job.text_bytes != 0 && job.text == nullptr)
    return wrong_argument("the text has a length and no bytes");
  const auto *const text = static_cast<const uint8_t *>(job.text);
  if (job.text_bytes != 0) spec->text.assign(text, text + job.text_bytes);
  return Status();
}

Status read_message(const lc_hash_message &message, size_t n, HashJob *result) {
  const auto here = [n](const char *what) {
    return wrong_argument("message " + std::to_string(n) + ": " + what);
  };
  if (message.in == nullptr && message.length != 0) return here("no input");
  if (message.digest == nullptr) return here("no place for the digest");
  if (message.length > UINT64_MAX - reinterpret_cast<uintptr_t>(message.in) ||
      message.length > UINT64_MAX - result->bytes)
    return here("it reaches past the end of all memory");
  result->messages.push_back({static_cast<const uint8_t *>(message.in), message.length,
                              static_cast<uint8_t *>(message.digest)});
  result->bytes += message.length;
  result->longest = std::max(result->longest, message.length);
  return Status();
}

// Checks that digests overlap no messages: digests are written while messages are read.
Status check_overlaps(const HashJob &job) {
  Overlaps overlaps;
  overlaps.writes("digest", job.messages.size(), [&](size_t n) {
    return MemoryRange(job.messages[n].digest, job.spec.digest_bytes);
  });
  overlaps.reads("input", job.messages.size(),
                 [&](size_t n) { return MemoryRange(job.messages[n].in, job.messages[n].length); });
  return overlaps.check();
}

}  // namespace

Result<HashJob> make_hash_job(const lc_hash_job *job) {
  if (job == nullptr) return wrong_argument("no job was given");
  if (!has_known_size(*job)) return wrong_argument("lc_hash_job.struct_size is too small");
  if (!is_memory(job->memory) || !is_memory(job->digest_memory))
    return wrong_argument("unknown memory");
  HashJob result;
  LC_TRY(read_spec(*job, &result.spec));
  result.memory = job->memory;
  result.digest_memory = job->digest_memory;
  result.device = device_of(*job);
  result.stream = job->stream;
  if (job->memory == LC_MEMORY_HOST && job->digest_memory == LC_MEMORY_DEVICE)
    return wrong_argument("digests of messages in host memory go to host memory");
  if (job->memory == LC_MEMORY_HOST && job->stream != nullptr)
    return wrong_argument("a stream is for messages in device memory");
  if (job->digest_memory == LC_MEMORY_DEVICE && result.spec.method->family == HashFamily::kParallel)
    return Status(LC_ERROR_UNSUPPORTED,
                  "the last step of ParallelHash is the CPU's: digests go to host memory");
  if (job->message_count != 0 && job->messages == nullptr)
    return wrong_argument("no messages were given");
  if (job->message_count != 0 && job->message_size < sizeof(lc_hash_message))
    return wrong_argument("lc_hash_job.message_size is too small");
  if (job->message_count > UINT32_MAX) return wrong_argument("more than 2^32 - 1 messages");
  result.messages.reserve(job->message_count);
  for (size_t n = 0; n < job->message_count; ++n) {
    lc_hash_message message;
    std::memcpy(&message, reinterpret_cast<const char *>(job->messages) + n * job->message_size,
                sizeof message);
    LC_TRY(read_message(message, n, &result));
  }
  LC_TRY(check_overlaps(result));
  return result;
}

}  // namespace lanecrypt
