// `MlDsaRequest` is an ML-DSA job on its way through the library.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "batch/batch_request.h"
#include "job/ml_dsa_job.h"
#include "secure/key_memory.h"

namespace lanecrypt::runtime {

// `MlDsaItem` is one operation. What it points to must stay valid until its job is over.
struct MlDsaItem {
  const MlDsaKey *key = nullptr;  // nullptr for a new key
  std::array<uint8_t, kMlDsaMuBytes> mu = {};
  // rnd of a signature, or the seed of a key: 32 bytes. nullptr to verify.
  const uint8_t *random = nullptr;
  uint8_t *signature = nullptr;
  uint8_t *verdict = nullptr;
  uint8_t *public_key = nullptr, *private_key = nullptr;
};

// Runs one operation on the CPU, in the calling thread.
Status run_ml_dsa_on_cpu(lc_ml_dsa_operation operation, const MlDsaSizes &sizes,
                         const MlDsaItem &item);

class MlDsaRequest : public BatchRequest {
 public:
  // Hashes the messages and draws random numbers. A signature of a wrong length is found invalid
  // here and does not become an operation.
  static Result<std::shared_ptr<MlDsaRequest>> make(MlDsaJob job, Callback on_end);
  MlDsaRequest(MlDsaJob job, Callback on_end);

  uint32_t device_number = LC_ANY_DEVICE;

  uint32_t device() const override { return device_number; }
  BatchKind kind_of(uint32_t operation) const override {
    return {uint32_t(operation_), uint32_t(sizes_of(operation).set)};
  }
  uint32_t bytes_of(uint32_t operation) const override {
    const MlDsaSizes &sizes = sizes_of(operation);
    return operation_ == LC_ML_DSA_GENERATE ? sizes.public_bytes + sizes.private_bytes
                                            : sizes.signature_bytes;
  }
  Status run_on_cpu(uint32_t operation) override {
    return run_ml_dsa_on_cpu(operation_, sizes_of(operation), items_[operation]);
  }
  Repaired repair_on_cpu(uint32_t operation) override;
  void withdraw_results() override;

  const MlDsaItem &item(uint32_t operation) const { return items_[operation]; }

 private:
  const MlDsaSizes &sizes_of(uint32_t operation) const {
    const MlDsaKey *const key = items_[operation].key;
    return key == nullptr ? *sizes_ : key->sizes;
  }
  Status draw(const MlDsaJob &job);

  const lc_ml_dsa_operation operation_;
  const MlDsaSizes *const sizes_;  // of new keys
  const std::vector<MlDsaKeyPointer> keys_;
  std::vector<MlDsaItem> items_;
  secure::KeyMemory random_;  // of all items
};

using MlDsaRequestPointer = std::shared_ptr<MlDsaRequest>;

}  // namespace lanecrypt::runtime
