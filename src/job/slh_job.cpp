// SPDX-License-Identifier: Apache-2.0
#include "job/slh_job.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "job/enum_number.h"
#include "job/overlap.h"
#include "job/read_struct.h"

namespace lanecrypt {
namespace {

constexpr size_t kMostContextBytes = 255;
constexpr unsigned kMostHash = LC_PRE_HASH_SHAKE_256;

Status wrong_key_length(const SlhSet &set, const char *what, size_t is, size_t should_be) {
  return wrong_argument("a " + std::string(what) + " of " + set.name + " has " +
                        std::to_string(should_be) + " bytes, not " + std::to_string(is));
}

// Checks the parts of a job that belong to no message. Zeroes the verdicts first.
Status check_slh_job(const lc_slh_dsa_job *job) {
  if (job == nullptr) return wrong_argument("no job was given");
  if (!has_known_size(*job)) return wrong_argument("lc_slh_dsa_job.struct_size is too small");
  if (job->message_count > UINT32_MAX) return wrong_argument("more than 2^32 - 1 messages");
  if (job->verdicts != nullptr) std::memset(job->verdicts, 0, job->message_count);
  const uint32_t operation = enum_number(job->operation), encoding = enum_number(job->encoding),
                 hash = enum_number(job->hash);
  if (operation != LC_SLH_DSA_SIGN && operation != LC_SLH_DSA_VERIFY)
    return wrong_argument("a job of SLH-DSA signs or verifies; " + std::to_string(operation) +
                          " is neither");
  if (encoding > LC_MESSAGE_RAW && encoding != LC_MESSAGE_DIGEST)
    return wrong_argument("unknown encoding " + std::to_string(encoding));
  if (encoding == LC_MESSAGE_DIGEST && operation != LC_SLH_DSA_SIGN)
    return wrong_argument("a digest is only signed");
  if (hash > kMostHash) return wrong_argument("unknown hash " + std::to_string(hash));
  if ((encoding == LC_MESSAGE_PRE_HASH) != (hash != LC_PRE_HASH_NONE))
    return wrong_argument(hash == 0 ? "a pre-hash signature needs a hash"
                                    : "only pre-hash has a hash");
  if ((operation == LC_SLH_DSA_VERIFY) != (job->verdicts != nullptr) && job->message_count != 0)
    return wrong_argument(operation == LC_SLH_DSA_SIGN ? "to sign has no verdicts"
                                                       : "no place for verdicts");
  if (job->message_count != 0 && job->messages == nullptr)
    return wrong_argument("no messages were given");
  if (job->message_count != 0 && job->message_size < sizeof(lc_slh_dsa_message))
    return wrong_argument("lc_slh_dsa_job.message_size is too small");
  return Status();
}

// Returns what is wrong with a message, or nullptr.
const char *check_slh_message(const lc_slh_dsa_job &job, const lc_slh_dsa_message &message,
                              const SlhKey &key) {
  const bool signs = job.operation == LC_SLH_DSA_SIGN;
  if (signs && !key.is_private) return "its key is public, and cannot sign";
  if (message.message == nullptr && message.message_bytes != 0) return "no message";
  if (message.context == nullptr && message.context_bytes != 0) return "no context string";
  if (message.context_bytes > kMostContextBytes)
    return "its context string has more than 255 bytes";
  if (job.encoding == LC_MESSAGE_RAW && message.context_bytes != 0)
    return "a raw message has no context string";
  if (job.encoding == LC_MESSAGE_DIGEST) {
    if (message.message_bytes != key.set.n + key.set.digest_bytes())
      return "what is signed is not as long as R and the digest of its set";
    if (message.context_bytes != 0) return "a digest has no context string";
    if (message.additional_random != nullptr) return "a digest has no random numbers";
  }
  if (!signs && message.additional_random != nullptr) return "to verify takes no random numbers";
  if (message.signature == nullptr && (signs || message.signature_bytes != 0))
    return "no signature, or no place for it";
  if (signs && message.signature_bytes < key.set.signature_bytes())
    return "too little room for its signature";
  return nullptr;
}

// Checks that what is written, signatures or verdicts, does not overlap the caller's other data.
Status check_overlaps(const lc_slh_dsa_job &job, const SlhJob &made) {
  const size_t count = made.messages.size();
  const auto bytes = [](const std::span<const uint8_t> &of) {
    return MemoryRange(of.data(), of.size());
  };
  const auto signature = [&](size_t n) {
    const SlhMessage &message = made.messages[n];
    return message.has_right_length
               ? MemoryRange(message.signature, made.keys[message.key]->set.signature_bytes())
               : MemoryRange();
  };
  Overlaps overlaps;
  if (made.operation == LC_SLH_DSA_SIGN) {
    overlaps.writes("signature", count, signature);
    overlaps.reads("random numbers", count, [&](size_t n) {
      const SlhMessage &message = made.messages[n];
      return message.additional_random == nullptr
                 ? MemoryRange()
                 : MemoryRange(message.additional_random, made.keys[message.key]->set.n);
    });
  } else {
    overlaps.writes_all("array of verdicts", MemoryRange(job.verdicts, count));
    overlaps.reads("signature", count, signature);
  }
  overlaps.reads("text", count, [&](size_t n) { return bytes(made.messages[n].message); });
  overlaps.reads("context", count, [&](size_t n) { return bytes(made.messages[n].context); });
  return overlaps.check();
}

}  // namespace

SlhKey::SlhKey(const SlhSet &of_set, std::span<const uint8_t> of, RandomSource source)
    : set(of_set),
      is_private(of.size() == of_set.private_bytes()),
      random(source),
      signed_roots(of_set, is_private),
      memory(of.size(), secure::KeyMemory::Fork::kKept) {
  if (!memory.ok(of.size())) return;
  std::memcpy(memory.data(), of.data(), of.size());
  const std::span<const uint8_t> all(memory.data(), of.size());
  const size_t n = set.n;
  if (is_private) {
    parts.sk_seed = all.first(n);
    parts.sk_prf = all.subspan(n, n);
  }
  parts.pk_seed = all.last(2 * n).first(n);
  parts.pk_root = all.last(n);
}

Result<std::shared_ptr<SlhKey>> copy_slh_key(const lc_slh_dsa_parts *parts) {
  if (parts == nullptr) return wrong_argument("no parts of a key were given");
  if (parts->struct_size < sizeof(lc_slh_dsa_parts))
    return wrong_argument("lc_slh_dsa_parts.struct_size is too small");
  const SlhSet *const set = find_slh_set(enum_number(parts->set));
  if (set == nullptr)
    return wrong_argument("unknown set " + std::to_string(enum_number(parts->set)));
  const std::span<const uint8_t> given_private(static_cast<const uint8_t *>(parts->private_key),
                                               parts->private_key_bytes);
  const std::span<const uint8_t> given_public(static_cast<const uint8_t *>(parts->public_key),
                                              parts->public_key_bytes);
  const bool has_private = !given_private.empty(), has_public = !given_public.empty();
  if ((has_private && given_private.data() == nullptr) ||
      (has_public && given_public.data() == nullptr))
    return wrong_argument("a part of the key has a length and no bytes");
  if (!has_private && !has_public)
    return wrong_argument("neither a private nor a public key was given");
  if (has_private && given_private.size() != set->private_bytes())
    return wrong_key_length(*set, "private key", given_private.size(), set->private_bytes());
  if (has_public && given_public.size() != set->public_bytes())
    return wrong_key_length(*set, "public key", given_public.size(), set->public_bytes());
  if (has_private && has_public &&
      !std::equal(given_public.begin(), given_public.end(),
                  given_private.last(set->public_bytes()).begin()))
    return wrong_argument("the public key is not that of the private key");
  if ((parts->tree == nullptr) != (parts->tree_bytes == 0))
    return wrong_argument("a tree has nodes and a length, or neither");
  if (parts->tree != nullptr && !has_private)
    return wrong_argument("a public key signs nothing, and has no tree");
  if (parts->tree != nullptr && parts->tree_bytes != set->kept_bytes())
    return wrong_argument("the tree of a key of " + std::string(set->name) + " has " +
                          std::to_string(set->kept_bytes()) + " bytes, not " +
                          std::to_string(parts->tree_bytes));
  const auto key = std::make_shared<SlhKey>(*set, has_private ? given_private : given_public,
                                            RandomSource{parts->random, parts->argument});
  if (key->parts.pk_root.empty()) return Status(LC_ERROR_MEMORY, "no memory for the key");
  if (parts->tree != nullptr) {
    key->tree.resize(set->kept_bytes() / sizeof(uint32_t));
    std::memcpy(key->tree.data(), parts->tree, parts->tree_bytes);
  }
  return key;
}

Result<SlhJob> make_slh_job(const lc_slh_dsa_job *job, SlhKeyOf key_of) {
  LC_TRY(check_slh_job(job));
  SlhJob result;
  result.operation = job->operation;
  result.encoding = job->encoding;
  result.hash = job->hash;
  result.is_deterministic = job->deterministic != 0;
  result.device = device_of(*job);
  result.verdicts = job->verdicts;
  result.messages.reserve(job->message_count);
  std::unordered_map<const lc_slh_dsa_key *, uint32_t> numbers;
  for (size_t n = 0; n < job->message_count; ++n) {
    lc_slh_dsa_message message;
    std::memcpy(&message, reinterpret_cast<const char *>(job->messages) + n * job->message_size,
                sizeof message);
    const auto here = [n](const char *what) {
      return wrong_argument("message " + std::to_string(n) + ": " + what);
    };
    if (message.key == nullptr) return here("no key");
    const auto [at, is_new] =
        numbers.try_emplace(message.key, static_cast<uint32_t>(result.keys.size()));
    if (is_new) result.keys.push_back(key_of(message.key));
    const SlhKey &key = *result.keys[at->second];
    if (const char *what = check_slh_message(*job, message, key); what != nullptr)
      return here(what);
    result.messages.push_back(
        {.key = at->second,
         .message = {static_cast<const uint8_t *>(message.message), message.message_bytes},
         .context = {static_cast<const uint8_t *>(message.context), message.context_bytes},
         .additional_random = static_cast<const uint8_t *>(message.additional_random),
         .signature = static_cast<uint8_t *>(message.signature),
         .has_right_length = job->operation == LC_SLH_DSA_SIGN ||
                             message.signature_bytes == key.set.signature_bytes()});
  }
  LC_TRY(check_overlaps(*job, result));
  return result;
}

Result<SlhGeneration> make_slh_generation(const lc_slh_dsa_generation *generation) {
  if (generation == nullptr) return wrong_argument("nothing to make was given");
  if (!has_known_size(*generation))
    return wrong_argument("lc_slh_dsa_generation.struct_size is too small");
  SlhGeneration result;
  result.set = find_slh_set(enum_number(generation->set));
  if (result.set == nullptr)
    return wrong_argument("unknown set " + std::to_string(enum_number(generation->set)));
  if (generation->count != 0 && generation->keys == nullptr)
    return wrong_argument("no place for the keys");
  if (generation->trees != nullptr && result.set->kept_bytes() == 0)
    return wrong_argument("no tree is kept of a key of " + std::string(result.set->name));
  if (generation->count > UINT32_MAX) return wrong_argument("more than 2^32 - 1 keys");
  Overlaps overlaps;
  overlaps.writes_all(
      "array of keys",
      MemoryRange(generation->keys, generation->count * result.set->private_bytes()));
  if (generation->trees != nullptr)
    overlaps.writes_all(
        "array of trees",
        MemoryRange(generation->trees, generation->count * result.set->kept_bytes()));
  LC_TRY(overlaps.check());
  result.device = device_of(*generation);
  result.count = generation->count;
  result.seeds = static_cast<const uint8_t *>(generation->seeds);
  result.keys = static_cast<uint8_t *>(generation->keys);
  result.trees = static_cast<uint8_t *>(generation->trees);
  result.random = {generation->random, generation->argument};
  return result;
}

}  // namespace lanecrypt
