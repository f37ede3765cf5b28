// A request of which the service does the private operations, one by one.
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
#include "rsa/rsa_request.h"
#include "served/served_key.h"
#include "service/wire/sort.h"
#include "slh/slh_request.h"

namespace lanecrypt::served {

class ServedRequest {
 public:
  // For the longest input that is not where the caller has it: mu and rnd of ML-DSA.
  using Room = std::array<uint8_t, 96>;

  // What is noted later, on a thread from which nothing may be thrown, has room from here on.
  explicit ServedRequest(runtime::BatchRequestPointer whole) : request(std::move(whole)) {
    left.reserve(request->todo.size());
    request->tried.reserve(1);
  }
  virtual ~ServedRequest() = default;
  ServedRequest(const ServedRequest &) = delete;

  // ---- The family's, of operations by their numbers ----
  virtual ServedKey &key(uint32_t number, const Service &service) const = 0;
  // What the service gets, as client::Exchange has it: in `room`, or where the caller has it.
  virtual std::span<const uint8_t> input(uint32_t number, Room &room) const = 0;
  // Where the output goes. It may be where the input is.
  virtual std::span<uint8_t> output(uint32_t number) const = 0;
  // Whether a core of ours takes `made` for the output. It may throw for want of memory.
  virtual bool is_right(uint32_t number, std::span<const uint8_t> made) const = 0;

  const runtime::BatchRequestPointer request;
  // Numbers of its operations that the service has not done, and whether it failed one.
  std::vector<uint32_t> left;
  bool has_failed = false;
  size_t under_way = 0;
};

using ServedRequestPointer = std::shared_ptr<ServedRequest>;

// Of private operations.
ServedRequestPointer wrap(const runtime::RsaRequestPointer &request);
// Of signatures to make.
ServedRequestPointer wrap(const runtime::MlDsaRequestPointer &request);
ServedRequestPointer wrap(const std::shared_ptr<runtime::SlhSignatures> &request);

// Whether the service knows the sets of all keys of a job. It does not know those of the draft.
bool knows_sets(const SlhJob &job);

}  // namespace lanecrypt::served
