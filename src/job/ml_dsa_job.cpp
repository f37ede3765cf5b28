// SPDX-License-Identifier: Apache-2.0
#include "job/ml_dsa_job.h"

#include <cstring>
#include <string>
#include <unordered_map>

#include "job/enum_number.h"
#include "job/overlap.h"
#include "job/read_struct.h"

namespace lanecrypt {
namespace {

std::span<const uint8_t> part_of(const void *at, size_t bytes) {
  return at == nullptr ? std::span<const uint8_t>()
                       : std::span(static_cast<const uint8_t *>(at), bytes);
}

// Returns what is wrong with the text of a message, or nullptr.
const char *look_at_text(const lc_ml_dsa_message &message, lc_message_encoding encoding) {
  if (message.message_bytes != 0 && message.message == nullptr)
    return "its message has a length and no bytes";
  if (message.context_bytes != 0 && message.context == nullptr)
    return "its context string has a length and no bytes";
  if (message.context_bytes > kMlDsaContextBytes) return "its context string exceeds 255 bytes";
  if (message.context_bytes != 0 && encoding != LC_MESSAGE_PURE)
    return "only a pure message has a context string";
  if (encoding == LC_MESSAGE_MU && message.message_bytes != kMlDsaMuBytes) return "mu has 64 bytes";
  return nullptr;
}

// The same for the rest of a message.
const char *look_at_places(const lc_ml_dsa_message &message, lc_ml_dsa_operation operation) {
  if (operation == LC_ML_DSA_GENERATE) {
    if (message.key != nullptr) return "a new key is made of no other";
    return message.public_key == nullptr || message.private_key == nullptr ? "no place for the key"
                                                                           : nullptr;
  }
  if (message.key == nullptr) return "no key";
  const bool signs = operation == LC_ML_DSA_SIGN;
  if (message.signature == nullptr && (signs || message.signature_bytes != 0))
    return "no signature, or no place for it";
  return nullptr;
}

// Checks the parts of a job that belong to no message. Zeroes the verdicts first.
Status look_at_whole(const lc_ml_dsa_job &job) {
  if (job.message_count > UINT32_MAX) return wrong_argument("more than 2^32 - 1 messages");
  if (job.verdicts != nullptr) std::memset(job.verdicts, 0, job.message_count);
  const uint32_t operation = enum_number(job.operation), encoding = enum_number(job.encoding);
  if (operation > LC_ML_DSA_GENERATE)
    return wrong_argument("unknown operation of ML-DSA " + std::to_string(operation));
  if (operation == LC_ML_DSA_GENERATE) {
    if (find_ml_dsa_sizes(enum_number(job.set)) == nullptr)
      return wrong_argument("unknown parameter set of ML-DSA " +
                            std::to_string(enum_number(job.set)));
  } else if (encoding == LC_MESSAGE_PRE_HASH) {
    return Status(LC_ERROR_UNSUPPORTED, "pre-hash ML-DSA is not offered");
  } else if (encoding > LC_MESSAGE_MU) {
    return wrong_argument("unknown encoding of messages " + std::to_string(encoding));
  }
  if ((job.verdicts != nullptr) != (operation == LC_ML_DSA_VERIFY) && job.message_count != 0)
    return wrong_argument("verdicts belong to verification, which needs them");
  if (job.message_count != 0 && job.messages == nullptr)
    return wrong_argument("no messages were given");
  if (job.message_count != 0 && job.message_size < sizeof(lc_ml_dsa_message))
    return wrong_argument("lc_ml_dsa_job.message_size is too small");
  return Status();
}

// Checks that what is written overlaps nothing else that is written or that is read later. Messages
// and random numbers are read before anything is written, unless there are verdicts.
Status check_overlaps(const lc_ml_dsa_job &job, const MlDsaJob &made) {
  const size_t count = made.messages.size();
  const auto bytes = [](const std::span<const uint8_t> &of) {
    return MemoryRange(of.data(), of.size());
  };
  const auto signature = [&](size_t n) {
    const MlDsaMessage &message = made.messages[n];
    return message.has_right_length
               ? MemoryRange(message.signature, made.keys[message.key]->sizes.signature_bytes)
               : MemoryRange();
  };
  Overlaps overlaps;
  if (made.operation == LC_ML_DSA_SIGN) {
    overlaps.writes("signature", count, signature);
  } else if (made.operation == LC_ML_DSA_GENERATE) {
    overlaps.writes("public key", count, [&](size_t n) {
      return MemoryRange(made.messages[n].public_key, made.sizes->public_bytes);
    });
    overlaps.writes("private key", count, [&](size_t n) {
      return MemoryRange(made.messages[n].private_key, made.sizes->private_bytes);
    });
  } else {
    overlaps.writes_all("array of verdicts", MemoryRange(job.verdicts, count));
    overlaps.reads("signature", count, signature);
    overlaps.reads("text", count, [&](size_t n) { return bytes(made.messages[n].message); });
    overlaps.reads("context", count, [&](size_t n) { return bytes(made.messages[n].context); });
  }
  return overlaps.check();
}

}  // namespace

Result<MlDsaParts> check_ml_dsa_parts(const lc_ml_dsa_parts *parts) {
  if (parts == nullptr) return wrong_argument("no parts of a key were given");
  if (parts->struct_size < sizeof(lc_ml_dsa_parts))
    return wrong_argument("lc_ml_dsa_parts.struct_size is too small");
  const MlDsaSizes *const sizes = find_ml_dsa_sizes(enum_number(parts->set));
  if (sizes == nullptr)
    return wrong_argument("unknown parameter set of ML-DSA " +
                          std::to_string(enum_number(parts->set)));
  const MlDsaParts result = {.sizes = sizes,
                             .seed = part_of(parts->seed, kMlDsaSeedBytes),
                             .private_key = part_of(parts->private_key, sizes->private_bytes),
                             .public_key = part_of(parts->public_key, sizes->public_bytes),
                             .random = {parts->random, parts->argument}};
  if (result.seed.empty() && result.private_key.empty() && result.public_key.empty())
    return wrong_argument("a key of ML-DSA needs a seed, a private key or a public key");
  return result;
}

Result<MlDsaJob> make_ml_dsa_job(const lc_ml_dsa_job *job, MlDsaKeyOf key_of) {
  if (job == nullptr) return wrong_argument("no job was given");
  if (!has_known_size(*job)) return wrong_argument("lc_ml_dsa_job.struct_size is too small");
  LC_TRY(look_at_whole(*job));
  MlDsaJob result;
  result.operation = job->operation;
  result.encoding = job->encoding;
  result.sizes = find_ml_dsa_sizes(enum_number(job->set));
  result.is_deterministic = job->deterministic != 0;
  result.device = device_of(*job);
  result.verdicts = job->verdicts;
  result.random = {job->random, job->argument};
  result.messages.reserve(job->message_count);
  std::unordered_map<const lc_ml_dsa_key *, uint32_t> numbers;
  for (size_t n = 0; n < job->message_count; ++n) {
    lc_ml_dsa_message message;
    std::memcpy(&message, reinterpret_cast<const char *>(job->messages) + n * job->message_size,
                sizeof message);
    const auto here = [n](const char *what) {
      return wrong_argument("message " + std::to_string(n) + ": " + what);
    };
    const bool makes_key = job->operation == LC_ML_DSA_GENERATE;
    if (const char *what = look_at_places(message, job->operation)) return here(what);
    if (const char *what = makes_key ? nullptr : look_at_text(message, job->encoding))
      return here(what);
    MlDsaMessage taken;
    taken.random = static_cast<const uint8_t *>(message.random);
    taken.public_key = static_cast<uint8_t *>(message.public_key);
    taken.private_key = static_cast<uint8_t *>(message.private_key);
    if (!makes_key) {
      const auto [at, is_new] =
          numbers.try_emplace(message.key, static_cast<uint32_t>(result.keys.size()));
      if (is_new) result.keys.push_back(key_of(message.key));
      taken.key = at->second;
      const MlDsaKey &key = *result.keys[taken.key];
      const bool signs = job->operation == LC_ML_DSA_SIGN;
      if (signs && !key.is_private) return here("its key is public, and the operation is private");
      if (signs && message.signature_bytes < key.sizes.signature_bytes)
        return here("the room for its signature is too small");
      taken.has_right_length = signs || message.signature_bytes == key.sizes.signature_bytes;
      taken.message = {static_cast<const uint8_t *>(message.message), message.message_bytes};
      taken.context = {static_cast<const uint8_t *>(message.context), message.context_bytes};
      taken.signature = static_cast<uint8_t *>(message.signature);
    }
    result.messages.push_back(taken);
  }
  LC_TRY(check_overlaps(*job, result));
  return result;
}

}  // namespace lanecrypt
