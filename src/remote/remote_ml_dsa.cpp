// Signatures of ML-DSA by the service, which signs mu and never gets the message (FIPS 204,
// Algorithm 7, ML-DSA.Sign_internal, from line 7 on).
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cpu/ml_dsa/cpu_ml_dsa.h"
#include "remote/remote_request.h"

namespace lanecrypt::remote {
namespace {

class RemoteMlDsaKey final : public RemoteKey {
 public:
  RemoteMlDsaKey(const MlDsaKey &key, const Service &service)
      : RemoteKey({service::Family::kMlDsa, uint32_t(key.sizes.set)}, service), key_(key) {}

  // Returns a view of the key without a copy.
  bool copy_numbers(client::KeyNumbers &to) const override {
    to.parts[service::kWholeKey] = key_.private_key();
    return key_.is_private;
  }

 private:
  const MlDsaKey &key_;
};

class RemoteMlDsa final : public RemoteRequest {
 public:
  explicit RemoteMlDsa(const runtime::MlDsaRequestPointer &whole)
      : RemoteRequest(whole), ml_dsa_(*whole) {}

  RemoteKey &key(uint32_t number, const Service &service) const override {
    return remote_key<RemoteMlDsaKey>(*ml_dsa_.item(number).key, service);
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

RemoteRequestPointer wrap(const runtime::MlDsaRequestPointer &request) {
  return std::make_shared<RemoteMlDsa>(request);
}

}  // namespace lanecrypt::remote
