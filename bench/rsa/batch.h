// RSA for benchmarks: a key, a batch with it whose results OpenSSL checks, and OpenSSL's own rate.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/evp.h>

#include <functional>
#include <memory>
#include <vector>

#include "bench/report/results.h"
#include "lanecrypt/lanecrypt.hpp"

namespace lanecrypt::bench {

// A key, in OpenSSL's form and in the library's.
class BenchRsaKey {
 public:
  explicit BenchRsaKey(unsigned bits);

  size_t bytes() const { return key_.size(); }
  const lc_rsa_key *get() const { return key_.get(); }

  // Runs OpenSSL's operation without padding, as long as `more` returns true. `more` sets the input
  // and output.
  void run_openssl(bool is_private,
                   const std::function<bool(const uint8_t **, uint8_t **)> &more) const;

 private:
  struct FreePkey {
    void operator()(EVP_PKEY *pkey) const { EVP_PKEY_free(pkey); }
  };
  std::unique_ptr<EVP_PKEY, FreePkey> pkey_;
  RsaKey key_;
};

// Inputs and outputs of a batch.
class RsaBatch {
 public:
  RsaBatch(const BenchRsaKey &key, size_t count);

  size_t count() const { return messages_.size(); }

  // Returns the seconds. Throws Failure if the device did not do all operations.
  double run(const Context &context, uint32_t device, lc_rsa_operation operation) const;
  // Raises each output to e, or each input, with OpenSSL on all cores. Throws Failure if one
  // differs.
  void check(lc_rsa_operation operation, const std::string &name) const;

 private:
  const BenchRsaKey &key_;
  std::vector<uint8_t> in_;
  mutable std::vector<uint8_t> out_;
  std::vector<lc_rsa_message> messages_;
};

// Returns OpenSSL's private operations per second on this many cores.
Spread openssl_rsa_rate(const BenchRsaKey &key, unsigned cores, const Patience &patience);

}  // namespace lanecrypt::bench
