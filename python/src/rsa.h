// RSA: keys, private operations and new keys.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "rsa_encoding.h"
#include "task.h"

namespace lanecrypt::python {

// A private key. It belongs to no context, and a child of fork has it too.
class RsaKey {
 public:
  // From DER or PEM, bytes-like. A bytearray is wiped if `wipes` is set.
  RsaKey(nb::handle encoded, bool wipes);
  ~RsaKey() { lc_rsa_key_free(key_); }
  RsaKey(const RsaKey &) = delete;

  const lc_rsa_key *get() const { return key_; }
  size_t bytes() const { return lc_rsa_key_bytes(key_); }
  uint32_t bits() const { return 8 * modulus_.size() - std::countl_zero(modulus_[0]); }
  // Big-endian, without leading zeros.
  const std::vector<uint8_t> &modulus() const { return modulus_; }

 private:
  lc_rsa_key *key_ = nullptr;
  std::vector<uint8_t> modulus_;
};

// Private operations under one key (RFC 8017, 5.1.2 and 5.2.1).
class RsaTask : public Task {
 public:
  RsaTask(nb::object context, nb::object key);
  ~RsaTask() override;

  // A number of the key's length that is less than the modulus. False where it is another.
  bool add(nb::handle number);
  // The encoded message of RSASSA-PKCS1-v1_5 (RFC 8017, 9.2) with these bytes at its end, which
  // are the DER of a DigestInfo.
  void add_pkcs1v15(nb::handle digest_info);
  // A result, of the key's length.
  nb::bytes result(size_t number) const;
  size_t count() const { return count_; }

  void prepare() override;
  lc_status run(lc_context *context) override { return lc_rsa_run(context, &job_, nullptr); }
  lc_status submit(lc_context *context, lc_ticket **ticket) override {
    return lc_rsa_submit(context, &job_, nullptr, ticket);
  }

 private:
  const RsaKey &key_;
  // The numbers, and then the results in their place.
  std::vector<uint8_t> numbers_;
  std::vector<lc_rsa_message> messages_;
  size_t count_ = 0;
  lc_rsa_job job_ = {};
};

void bind_rsa(nb::module_ &module);

}  // namespace lanecrypt::python
