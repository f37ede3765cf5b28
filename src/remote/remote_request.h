// `RemoteRequest` is a request whose private operations or signatures the service does, one by one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "batch/batch_request.h"
#include "ml_dsa/ml_dsa_request.h"
#include "remote/remote_key.h"
#include "rsa/rsa_request.h"
#include "service/wire/operation_kind.h"
#include "slh/slh_request.h"

namespace lanecrypt::remote {

class RemoteRequest {
 public:
  // `InputBuffer` holds an input that is not in the caller's memory. The longest one is mu and rnd
  // of ML-DSA.
  using InputBuffer = std::array<uint8_t, 96>;

  // Reserves room for all that is noted later, on a thread that must not throw.
  explicit RemoteRequest(runtime::BatchRequestPointer whole) : request(std::move(whole)) {
    left.reserve(request->todo.size());
    request->tried.reserve(1);
  }
  virtual ~RemoteRequest() = default;
  RemoteRequest(const RemoteRequest &) = delete;

  // ---- For each family; `number` is that of an operation of the request ----
  virtual RemoteKey &key(uint32_t number, const Service &service) const = 0;
  // Returns the input that the service gets, as in client::Exchange: in `buffer` or in the caller's
  // memory.
  virtual std::span<const uint8_t> input(uint32_t number, InputBuffer &buffer) const = 0;
  // Returns where the output goes. It may overlap the input.
  virtual std::span<uint8_t> output(uint32_t number) const = 0;
  // Returns whether `made` is a right output, checked on the calling thread. Throws std::bad_alloc.
  virtual bool is_right(uint32_t number, std::span<const uint8_t> made) const = 0;

  const runtime::BatchRequestPointer request;
  // The indices of the operations that the service has not done, and whether the service has failed
  // one.
  std::vector<uint32_t> left;
  bool has_failed = false;
  size_t under_way = 0;
};

using RemoteRequestPointer = std::shared_ptr<RemoteRequest>;

// Wraps a request for private operations of RSA.
RemoteRequestPointer wrap(const runtime::RsaRequestPointer &request);
// Wraps a request for signatures.
RemoteRequestPointer wrap(const runtime::MlDsaRequestPointer &request);
RemoteRequestPointer wrap(const std::shared_ptr<runtime::SlhSignatures> &request);

// Returns whether the service knows the sets of all keys of a job. It does not know those of the
// draft SP 800-230.
bool knows_sets(const SlhJob &job);

}  // namespace lanecrypt::remote
