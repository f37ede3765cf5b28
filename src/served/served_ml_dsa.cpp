// Signatures of ML-DSA by the service, which signs mu and never gets the message (FIPS 204,
// Algorithm 7, ML-DSA.Sign_internal, from line 7 on).
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cpu/ml_dsa/cpu_ml_dsa.h"
#include "served/served_request.h"

namespace lanecrypt::served {
namespace {

class ServedMlDsaKey final : public ServedKey {
 public:
  ServedMlDsaKey(const MlDsaKey &key, const Service &service)
      : ServedKey({service::Family::kMlDsa, uint32_t(key.sizes.set)}, service), key_(key) {}

  // Returns a view of the key without a copy.
  bool copy_numbers(client::KeyNumbers &to) const override {
    to.parts[service::kWholeKey] = key_.private_key();
    return key_.is_private;
  }

 private:
  const MlDsaKey &key_;
};

class ServedMlDsa final : public ServedRequest {
 public:
  explicit ServedMlDsa(const runtime::MlDsaRequestPointer &whole)
      : ServedRequest(whole), ml_dsa_(*whole) {}

  ServedKey &key(uint32_t number, const Service &service) const override {
    return served_key<ServedMlDsaKey>(*ml_dsa_.item(number).key, service);
  }
  std::span<const uint8_t> input(uint32_t number, InputBuffer &buffer) const override {
    static_assert(sizeof(InputBuffer) == kMlDsaMuBytes + kMlDsaRandomBytes);
    const runtime::MlDsaItem &item = ml_dsa_.item(number);
    std::copy(item.mu.begin(), item.mu.end(), buffer.begin());
    std::copy_n(item.random, kMlDsaRandomBytes, buffer.begin() + kMlDsaMuBytes);
    return buffer;
  }
  std::span<uint8_t> output(uint32_t number) const override {
    const runtime::MlDsaItem &item = ml_dsa_.item(number);
    return {item.signature, item.key->sizes.signature_bytes};
  }
  bool is_right(uint32_t number, std::span<const uint8_t> made) const override {
    const runtime::MlDsaItem &item = ml_dsa_.item(number);
    Result<uint8_t> verdict = cpu::ml_dsa_verify(*item.key, item.mu, made);
    return verdict.ok() && *verdict == 1;
  }

 private:
  const runtime::MlDsaRequest &ml_dsa_;
};

}  // namespace

ServedRequestPointer wrap(const runtime::MlDsaRequestPointer &request) {
  return std::make_shared<ServedMlDsa>(request);
}

}  // namespace lanecrypt::served
