// RSA for Python: keys, private operations and key generation.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "rsa_encoding.h"
#include "task.h"

namespace lanecrypt::python {

// A private key. It belongs to no context, and a forked child may use it too.
class RsaKey {
 public:
  // Reads DER or PEM from a bytes-like object. Erases a bytearray if `wipes` is set.
  RsaKey(nb::handle encoded, bool wipes);
  ~RsaKey() { lc_rsa_key_free(key_); }
  RsaKey(const RsaKey &) = delete;

  const lc_rsa_key *get() const { return key_; }
  size_t bytes() const { return lc_rsa_key_bytes(key_); }
  uint32_t bits() const { return 8 * modulus_.size() - std::countl_zero(modulus_[0]); }
  // The modulus, big-endian, without leading zeros.
  const std::vector<uint8_t> &modulus() const { return modulus_; }

 private:
  lc_rsa_key *key_ = nullptr;
  std::vector<uint8_t> modulus_;
};

// A task of private operations with one key: RSADP and RSASP1 (RFC 8017, sections 5.1.2 and 5.2.1).
class RsaTask : public Task {
 public:
  RsaTask(nb::object context, nb::object key);
  ~RsaTask() override;

  // Adds a number, which has as many bytes as the key. Returns false if it is not less than the
  // modulus, or has another length.
  bool add(nb::handle number);
  // Adds the encoded message of EMSA-PKCS1-v1_5 (RFC 8017, section 9.2) that ends with
  // `digest_info`, the DER of a DigestInfo.
  void add_pkcs1v15(nb::handle digest_info);
  // Returns a result, with as many bytes as the key.
  nb::bytes result(size_t number) const;
  size_t count() const { return count_; }

  void prepare() override;
  lc_status run(lc_context *context) override { return lc_rsa_run(context, &job_, nullptr); }
  lc_status submit(lc_context *context, lc_ticket **ticket) override {
    return lc_rsa_submit(context, &job_, nullptr, ticket);
  }

 private:
  const RsaKey &key_;
  // The numbers, which the results replace.
  std::vector<uint8_t> numbers_;
  std::vector<lc_rsa_message> messages_;
  size_t count_ = 0;
  lc_rsa_job job_ = {};
};

void bind_rsa(nb::module_ &module);

}  // namespace lanecrypt::python
