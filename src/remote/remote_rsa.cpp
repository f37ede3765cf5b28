// Private operations of RSA by the service (RFC 8017, sections 5.1.2, RSADP, and 5.2.1, RSASP1).
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cpu/rsa/cpu_rsa.h"
#include "remote/remote_request.h"

namespace lanecrypt::remote {
namespace {

class RemoteRsaKey final : public RemoteKey {
 public:
  RemoteRsaKey(const RsaKey &key, const Service &service)
      : RemoteKey({service::Family::kRsa, key.modulus_bits}, service), key_(key) {}

  // Returns views of the numbers without a copy.
  bool copy_numbers(client::KeyNumbers &to) const override {
    const RsaNumbers &its = key_.numbers;
    to.parts = {its.n, its.e, its.p, its.q, its.dp, its.dq, its.qinv, {}};
    return key_.is_private;
  }

 private:
  const RsaKey &key_;
};

class RemoteRsa final : public RemoteRequest {
 public:
  explicit RemoteRsa(const runtime::RsaRequestPointer &whole)
      : RemoteRequest(whole), rsa_(*whole) {}

  RemoteKey &key(uint32_t number, const Service &service) const override {
    return remote_key<RemoteRsaKey>(*rsa_.item(number).key, service);
  }
  std::span<const uint8_t> input(uint32_t number, InputBuffer &) const override {
    const runtime::RsaItem item = rsa_.item(number);
    return {item.in, item.key->modulus_bytes};
  }
  std::span<uint8_t> output(uint32_t number) const override {
    const runtime::RsaItem item = rsa_.item(number);
    return {item.out, item.key->modulus_bytes};
  }
  bool is_right(uint32_t number, std::span<const uint8_t> made) const override {
    const runtime::RsaItem item = rsa_.item(number);
    std::vector<uint8_t> back(made.size());
    return cpu::run_rsa(*item.key, LC_RSA_PUBLIC, made.data(), back.data()).ok() &&
           std::equal(back.begin(), back.end(), item.in);
  }

 private:
  const runtime::RsaRequest &rsa_;
};

}  // namespace

RemoteRequestPointer wrap(const runtime::RsaRequestPointer &request) {
  return std::make_shared<RemoteRsa>(request);
}

}  // namespace lanecrypt::remote
