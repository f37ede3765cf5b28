// Signatures of SLH-DSA by the service, which signs R and the digest and gets neither the message
// nor SK.prf (FIPS 205, Algorithm 19, slh_sign_internal, from line 6 on).
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cpu/slh/cpu_slh.h"
#include "remote/remote_request.h"

namespace lanecrypt::remote {
namespace {

service::OperationKind operation_kind_of(const SlhSet &set) {
  return {service::Family::kSlhDsa, uint32_t(set.number)};
}

class RemoteSlhKey final : public RemoteKey {
 public:
  RemoteSlhKey(const SlhKey &key, const Service &service)
      : RemoteKey(operation_kind_of(key.set), service), key_(key) {}

  // Copies all of the key but SK.prf.
  bool copy_numbers(client::KeyNumbers &to) const override {
    const SlhKeyParts &its = key_.parts;
    const size_t bytes = 3 * size_t{key_.set.n};
    to.memory = secure::KeyMemory(bytes);
    if (!key_.is_private || !to.memory.ok(bytes)) return false;
    uint8_t *end = to.memory.data();
    for (const std::span<const uint8_t> part : {its.sk_seed, its.pk_seed, its.pk_root})
      end = std::copy(part.begin(), part.end(), end);
    to.parts[service::kWholeKey] = {to.memory.data(), bytes};
    return true;
  }

 private:
  const SlhKey &key_;
};

class RemoteSlh final : public RemoteRequest {
 public:
  explicit RemoteSlh(const std::shared_ptr<runtime::SlhSignatures> &whole)
      : RemoteRequest(whole), slh_(*whole) {}

  RemoteKey &key(uint32_t number, const Service &service) const override {
    return remote_key<RemoteSlhKey>(slh_.key_of(number), service);
  }
  std::span<const uint8_t> input(uint32_t number, InputBuffer &buffer) const override {
    const SlhSet &set = slh_.key_of(number).set;
    const cpu::SlhHashed &hashed = slh_.hashed(number);
    const auto digest = std::copy_n(hashed.r, set.n, buffer.begin());
    std::copy_n(hashed.digest, set.digest_bytes(), digest);
    return std::span(buffer).first(set.n + set.digest_bytes());
  }
  std::span<uint8_t> output(uint32_t number) const override { return slh_.signature(number); }
  bool is_right(uint32_t number, std::span<const uint8_t> made) const override {
    // The signature begins with R, and the digest was computed from this R.
    const cpu::SlhHashed &hashed = slh_.hashed(number);
    const SlhKey &key = slh_.key_of(number);
    bool is_valid = false;
    return std::equal(hashed.r, hashed.r + key.set.n, made.begin()) &&
           cpu::slh_verify(key, hashed, made, is_valid).ok() && is_valid;
  }

 private:
  const runtime::SlhSignatures &slh_;
};

}  // namespace

RemoteRequestPointer wrap(const std::shared_ptr<runtime::SlhSignatures> &request) {
  return std::make_shared<RemoteSlh>(request);
}

bool knows_sets(const SlhJob &job) {
  return std::ranges::all_of(job.keys, [](const SlhKeyPointer &key) {
    return service::find_set(operation_kind_of(key->set)) != nullptr;
  });
}

}  // namespace lanecrypt::remote
