// `RsaRequest` is an RSA job on its way through the library.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "batch/batch_request.h"
#include "cpu/random.h"
#include "job/rsa_job.h"
#include "rsa/rsa_engine.h"
#include "rsa/rsa_kind.h"

namespace lanecrypt::runtime {

class RsaRequest : public BatchRequest {
 public:
  RsaRequest(RsaJob whole, Callback on_end);

  RsaJob job;

  uint32_t device() const override { return job.device; }
  BatchKind kind_of(uint32_t message) const override {
    return {job.operation, kinds_[job.messages[message].key]};
  }
  uint32_t bytes_of(uint32_t message) const override {
    return job.key_of(job.messages[message]).modulus_bytes;
  }
  Status run_on_cpu(uint32_t message) override;
  // If the CPU's result is wrong too, the key is marked as being at fault from then on.
  Repaired repair_on_cpu(uint32_t message) override;
  // Draws what blinds from the keys' own random functions. Makes the blinding of a single key. For
  // many keys the caller would wait too long.
  Status prepare_for_device() override;

  RsaItem item(uint32_t message) const {
    const RsaMessage &of = job.messages[message];
    return {&job.key_of(of), of.in, of.out, random_.get(),
            blinds_.empty() ? nullptr : &blinds_[message]};
  }

 private:
  Result<bool> make_right(const RsaItem &what);
  Status draw();

  std::vector<RsaKind> kinds_;  // the keys'
  // Set for a job with a key that has a random function.
  std::unique_ptr<cpu::SeededRandom> random_;
  std::vector<uint32_t, secure::WipingAllocator<uint32_t>> blinds_;  // by message
};

using RsaRequestPointer = std::shared_ptr<RsaRequest>;

}  // namespace lanecrypt::runtime
