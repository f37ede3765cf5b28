// RSA for benchmarks: a key, a batch under that key which OpenSSL checks, and OpenSSL's rate.
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

// A key in OpenSSL's form and in the library's.
class BenchRsaKey {
 public:
  explicit BenchRsaKey(unsigned bits);

  size_t bytes() const { return key_.size(); }
  const lc_rsa_key *get() const { return key_.get(); }

  // Runs OpenSSL's operation without padding as long as `more` returns true. `more` sets the
  // input and the output of the next operation.
  void run_openssl(bool is_private,
                   const std::function<bool(const uint8_t **, uint8_t **)> &more) const;

 private:
  struct FreePkey {
    void operator()(EVP_PKEY *pkey) const { EVP_PKEY_free(pkey); }
  };
  std::unique_ptr<EVP_PKEY, FreePkey> pkey_;
  RsaKey key_;
};

// The inputs and outputs of a batch.
class RsaBatch {
 public:
  RsaBatch(const BenchRsaKey &key, size_t count);

  size_t count() const { return messages_.size(); }

  // Runs the batch and returns the seconds. Throws Failure if the device did not do all of it.
  double run(const Context &context, uint32_t device, lc_rsa_operation operation) const;
  // Checks the batch by OpenSSL's public operation on all cores: on each output after private
  // operations, on each input after public ones. Throws Failure if a result differs.
  void check(lc_rsa_operation operation, const std::string &name) const;

 private:
  const BenchRsaKey &key_;
  std::vector<uint8_t> in_;
  mutable std::vector<uint8_t> out_;
  std::vector<lc_rsa_message> messages_;
};

// OpenSSL's private operations a second on `cores` cores.
Spread openssl_rsa_rate(const BenchRsaKey &key, unsigned cores, const Patience &patience);

}  // namespace lanecrypt::bench
