// Signatures of ML-DSA on a device of this process: which ones go there, and how their callers
// wait.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "provider/pq/pq_key.h"

namespace lanecrypt::provider {

// What is signed: mu, and then rnd of FIPS 204.
inline constexpr size_t kMlDsaMuBytes = 64, kMlDsaRandomBytes = 32;
struct MlDsaInput {
  uint8_t bytes[kMlDsaMuBytes + kMlDsaRandomBytes];
  uint8_t *mu() { return bytes; }
  uint8_t *random() { return bytes + kMlDsaMuBytes; }
};

// One signature, from the decision where it is made to its end. On the CPU the default provider
// makes it, and this notes how long it took.
class MlDsaOperation {
 public:
  enum class Taken {
    kDone,      // the signature is there
    kNotTaken,  // nothing was done: the CPU must do it
    kFailed,    // an error was raised
  };

  // Decides where it is made.
  explicit MlDsaOperation(PqKey &key);
  ~MlDsaOperation();
  MlDsaOperation(const MlDsaOperation &) = delete;

  // Called after the CPU's part. The time counts only if `done` says that it succeeded.
  // Returns `done`.
  int note(int done) {
    is_done_ = done != 0;
    return done;
  }
  bool is_for_device() const { return device_key_ != nullptr; }
  // False, with an error raised, if a device is required and none takes the key.
  bool may_go_on() const { return may_go_on_; }
  // May pause an ASYNC job.
  Taken run(const MlDsaInput &in, std::span<uint8_t> signature);

 private:
  // All of the job's stack may be freed without a destructor (wait/jobs.h). So nothing here
  // owns anything.
  PqKey &key_;
  const lc_ml_dsa_key *device_key_ = nullptr;
  bool may_go_on_ = true, ran_on_device_ = false, is_done_ = false;
  // The library was asked, and since then counts this operation as on the CPU.
  bool is_counted_ = false;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace lanecrypt::provider
