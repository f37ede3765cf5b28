// SLH-DSA jobs on their way through the library: signatures to make or to verify, and keys to make.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "batch/batch_request.h"
#include "cpu/slh/cpu_slh.h"
#include "job/slh_job.h"

namespace lanecrypt::runtime {

// The kind of operations that one launch can take together: the operation and the parameter set.
BatchKind slh_kind(lc_slh_dsa_operation operation, const SlhSet &set);
const SlhSet &slh_set_of(BatchKind kind);

class SlhRequest : public BatchRequest {
 public:
  SlhRequest(size_t operations, uint32_t device, Callback on_end)
      : BatchRequest(operations, std::move(on_end)), where(device) {}

  uint32_t where;  // the index of a device, LC_ANY_DEVICE or LC_CPU
  uint32_t device() const override { return where; }
  virtual const SlhSet &set_of(uint32_t number) const = 0;
  // Writes the kernels' input of operation `number`.
  virtual void put_item(uint32_t number, SlhItem &item) const = 0;
};

using SlhRequestPointer = std::shared_ptr<SlhRequest>;

class SlhSignatures : public SlhRequest {
 public:
  SlhSignatures(SlhJob whole, Callback on_end);

  // Runs part(0) to part(count - 1), possibly on several threads. No part may throw.
  using RunParts = std::function<void(size_t count, const std::function<void(size_t)> &part)>;
  // Draws the random numbers, and hashes the messages. Must be called once, before all else.
  Status hash(const RunParts &run_parts);

  BatchKind kind_of(uint32_t number) const override {
    return slh_kind(job_.operation, set_of(number));
  }
  bool suits_cpu(uint32_t number) const override {
    return job_.operation == LC_SLH_DSA_VERIFY || !set_of(number).is_draft();
  }
  const SlhSet &set_of(uint32_t number) const override { return key_of(number).set; }
  uint32_t bytes_of(uint32_t number) const override { return set_of(number).signature_bytes(); }
  Status run_on_cpu(uint32_t number) override;
  void withdraw_results() override;
  void put_item(uint32_t number, SlhItem &item) const override {
    cpu::put_item(key_of(number), hashed_[number], item);
  }

  const SlhKey &key_of(uint32_t number) const { return job_.key_of(job_.messages[number]); }
  const cpu::SlhHashed &hashed(uint32_t number) const { return hashed_[number]; }
  std::span<uint8_t> signature(uint32_t number) const {
    return {job_.messages[number].signature, key_of(number).set.signature_bytes()};
  }
  // Returns whether the roots of all layers, n bytes each, equal what the key has signed before, if
  // it has.
  bool have_roots_agree(uint32_t number, std::span<const uint8_t> roots) const {
    return cpu::do_roots_agree(key_of(number), hashed_[number], roots);
  }
  void set_verdict(uint32_t number, bool valid) { job_.verdicts[number] = valid ? 1 : 0; }

 private:
  Status draw();
  Status hash_one(uint32_t number);

  const SlhJob job_;
  std::vector<cpu::SlhHashed> hashed_;
};

class SlhKeys : public SlhRequest {
 public:
  SlhKeys(const SlhGeneration &what, Callback on_end)
      : SlhRequest(what.count, what.device, std::move(on_end)), what_(what) {}

  // Takes the seeds from the caller, or draws them. Must be called once, before all else.
  Status take_seeds();

  BatchKind kind_of(uint32_t) const override { return slh_kind(LC_SLH_DSA_GENERATE, *what_.set); }
  bool suits_cpu(uint32_t) const override { return !what_.set->is_draft(); }
  const SlhSet &set_of(uint32_t) const override { return *what_.set; }
  uint32_t bytes_of(uint32_t) const override { return what_.set->private_bytes(); }
  Status run_on_cpu(uint32_t number) override {
    return cpu::slh_make_key(*what_.set, seeds(number), key(number));
  }
  void put_item(uint32_t number, SlhItem &item) const override;

  std::span<const uint8_t> seeds(uint32_t number) const {
    return {seeds_.data() + size_t{number} * what_.set->seed_bytes(), what_.set->seed_bytes()};
  }
  // Returns where the kept nodes of a new key's tree go; empty if the caller does not want them.
  std::span<uint8_t> tree(uint32_t number) const {
    if (what_.trees == nullptr) return {};
    return {what_.trees + size_t{number} * what_.set->kept_bytes(), what_.set->kept_bytes()};
  }
  std::span<uint8_t> key(uint32_t number) const {
    return {what_.keys + size_t{number} * what_.set->private_bytes(), what_.set->private_bytes()};
  }

 private:
  const SlhGeneration what_;
  secure::KeyMemory seeds_;
};

}  // namespace lanecrypt::runtime
