// Keys and jobs of SLH-DSA through the C ABI, for tests.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "lanecrypt/lanecrypt.h"

namespace lanecrypt::test {

using SlhBytes = std::vector<uint8_t>;

inline const char *slh_name(uint32_t set) { return lc_slh_dsa_name(lc_slh_dsa_set(set)); }
inline size_t slh_n(uint32_t set) { return lc_slh_dsa_hash_bytes(lc_slh_dsa_set(set)); }
inline bool is_slow_set(uint32_t set) { return std::string(slh_name(set)).back() == 's'; }

struct FreeSlhKey {
  void operator()(lc_slh_dsa_key *key) const { lc_slh_dsa_key_free(key); }
};
using SlhKeyHandle = std::unique_ptr<lc_slh_dsa_key, FreeSlhKey>;

// Makes a key. `bytes` is a private key if it has 4 n bytes, and a public key if it has 2 n.
inline SlhKeyHandle slh_key(uint32_t set, const SlhBytes &bytes) {
  lc_slh_dsa_parts parts{};
  parts.struct_size = sizeof parts;
  parts.set = lc_slh_dsa_set(set);
  const bool is_private = bytes.size() == 4 * slh_n(set);
  (is_private ? parts.private_key : parts.public_key) = bytes.data();
  (is_private ? parts.private_key_bytes : parts.public_key_bytes) = bytes.size();
  lc_slh_dsa_key *key = nullptr;
  EXPECT_EQ(LC_OK, lc_slh_dsa_key_new(&parts, &key)) << lc_last_error();
  return SlhKeyHandle(key);
}

// Returns seeds whose bytes count up from `first`.
inline SlhBytes slh_seeds(uint32_t set, uint8_t first) {
  SlhBytes seeds(3 * slh_n(set));
  std::iota(seeds.begin(), seeds.end(), first);
  return seeds;
}

// Runs jobs on a device of a context, or on the CPU, and adds up where they ran.
class SlhRunner {
 public:
  SlhRunner(lc_context *context, uint32_t device) : context_(context), device_(device) {}

  lc_slh_dsa_job job{.struct_size = sizeof(lc_slh_dsa_job),
                     .operation = LC_SLH_DSA_SIGN,
                     .encoding = LC_MESSAGE_PURE,
                     .hash = LC_PRE_HASH_NONE,
                     .deterministic = 1,
                     .device = LC_CPU,
                     .messages = nullptr,
                     .message_count = 0,
                     .message_size = sizeof(lc_slh_dsa_message),
                     .verdicts = nullptr,
                     .has_device = 0};
  SlhBytes context_string, additional_random;
  lc_result done{};  // sums of all jobs so far

  // Returns the private key of these seeds. With `count` above 1 one job makes it that many times,
  // and all must be equal.
  SlhBytes make_key(uint32_t set, const SlhBytes &seeds, size_t count = 1) {
    SlhBytes all, keys(count * 4 * slh_n(set));
    for (size_t n = 0; n < count; ++n) all.insert(all.end(), seeds.begin(), seeds.end());
    lc_slh_dsa_generation generation{};
    generation.struct_size = sizeof generation;
    generation.set = lc_slh_dsa_set(set);
    generation.device = device_;
    generation.has_device = 1;
    generation.count = count;
    generation.seeds = seeds.empty() ? nullptr : all.data();
    generation.keys = keys.data();
    lc_result result{};
    result.struct_size = sizeof result;
    EXPECT_EQ(LC_OK, lc_slh_dsa_generate(context_, &generation, &result)) << lc_last_error();
    add(result);
    for (size_t n = 1; n < count && !seeds.empty(); ++n)
      EXPECT_TRUE(std::equal(keys.begin(), keys.begin() + ptrdiff_t(4 * slh_n(set)),
                             keys.begin() + ptrdiff_t(n * 4 * slh_n(set))));
    keys.resize(4 * slh_n(set));
    return keys;
  }
  // Returns a signature by each key.
  std::vector<SlhBytes> sign(uint32_t set, const std::vector<const lc_slh_dsa_key *> &keys,
                             const SlhBytes &message, lc_status expected = LC_OK) {
    std::vector<SlhBytes> made(keys.size(),
                               SlhBytes(lc_slh_dsa_signature_bytes(lc_slh_dsa_set(set)), 0xa5));
    run(LC_SLH_DSA_SIGN, keys, message, made, nullptr, expected);
    return made;
  }
  SlhBytes sign(uint32_t set, const SlhKeyHandle &key, const SlhBytes &message) {
    return sign(set, std::vector<const lc_slh_dsa_key *>{key.get()}, message).front();
  }
  SlhBytes verify(const std::vector<const lc_slh_dsa_key *> &keys, const SlhBytes &message,
                  std::vector<SlhBytes> signatures) {
    SlhBytes verdicts(signatures.size(), 0xa5);
    run(LC_SLH_DSA_VERIFY, keys, message, signatures, verdicts.data(), LC_OK);
    return verdicts;
  }
  bool is_valid(const SlhKeyHandle &key, const SlhBytes &message, const SlhBytes &signature) {
    return verify({key.get()}, message, {signature}) == SlhBytes{1};
  }

 private:
  void run(lc_slh_dsa_operation operation, const std::vector<const lc_slh_dsa_key *> &keys,
           const SlhBytes &message, std::vector<SlhBytes> &signatures, uint8_t *verdicts,
           lc_status expected) {
    std::vector<lc_slh_dsa_message> messages;
    for (size_t n = 0; n < keys.size(); ++n)
      messages.push_back(
          {.key = keys[n],
           .message = message.data(),
           .message_bytes = message.size(),
           .context = context_string.data(),
           .context_bytes = context_string.size(),
           .additional_random = operation == LC_SLH_DSA_VERIFY || additional_random.empty()
                                    ? nullptr
                                    : additional_random.data(),
           .signature = signatures[n].data(),
           .signature_bytes = signatures[n].size()});
    job.operation = operation;
    job.device = device_;
    job.has_device = 1;
    job.messages = messages.data();
    job.message_count = messages.size();
    job.verdicts = verdicts;
    lc_result result{};
    result.struct_size = sizeof result;
    EXPECT_EQ(expected, lc_slh_dsa_run(context_, &job, &result)) << lc_last_error();
    add(result);
  }
  void add(const lc_result &result) {
    done.device_operations += result.device_operations;
    done.cpu_operations += result.cpu_operations;
    done.failed_checks += result.failed_checks;
    done.failed_devices += result.failed_devices;
  }

  lc_context *const context_;
  const uint32_t device_;
};

}  // namespace lanecrypt::test
