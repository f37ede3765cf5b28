// A context that names a service, with a key of ML-DSA or SLH-DSA and messages to sign.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "../../unit/slh/slh_dsa_job.h"
#include "lanecrypt/lanecrypt.h"
#include "service/wire/operation_kind.h"

namespace lanecrypt::service::test {

// A set of each family whose signatures the emulator makes quickly.
inline constexpr const SignatureSet &kMlDsaTried = kMlDsaSets[0],
                                    &kSlhDsaTried = kSlhDsaSets[LC_SLH_DSA_SHA2_128F];

class LibrarySigner {
 public:
  struct Options {
    lc_fallback fallback = LC_FALLBACK_CPU;
    lc_verify verify = LC_VERIFY_SAMPLED;
    // SK.seed, SK.prf, PK.seed and PK.root for SLH-DSA; empty: a key whose signatures verify.
    std::vector<uint8_t> private_key = {};
    size_t count = 2;  // number of messages
  };
  // The context has no device: the CPU does what the service does not. The key is the same each
  // time.
  LibrarySigner(const SignatureSet &set, const std::string &service)
      : LibrarySigner(set, service, Options{}) {}
  LibrarySigner(const SignatureSet &set, const std::string &service, Options options);
  ~LibrarySigner();
  LibrarySigner(const LibrarySigner &) = delete;

  // Signs all messages in one job, and sets `result`.
  lc_status sign(bool is_deterministic = false, uint32_t device = LC_ANY_DEVICE);
  // Starts a job for one message.
  lc_status submit(size_t message, const lc_completion *completion, lc_ticket **ticket);
  // Returns whether the CPU verifies all signatures.
  bool are_right() const;
  bool did_service() const {
    return result.service_operations == signatures.size() &&
           result.device_operations == signatures.size() && result.cpu_operations == 0 &&
           result.failed_devices == 0;
  }
  bool did_cpu() const {
    return result.cpu_operations == signatures.size() && result.device_operations == 0;
  }
  void free_key();

  lc_context *context = nullptr;
  std::vector<std::vector<uint8_t>> messages, signatures;
  std::vector<uint8_t> private_key;  // for SLH-DSA
  lc_result result{};

 private:
  bool is_ml_dsa() const { return set_.family == Family::kMlDsa; }
  lc_ml_dsa_job ml_dsa_job(lc_ml_dsa_operation operation) const;
  lc_slh_dsa_job slh_dsa_job(lc_slh_dsa_operation operation) const;

  const SignatureSet &set_;
  lc_ml_dsa_key *ml_dsa_ = nullptr;
  lanecrypt::test::SlhKeyHandle slh_dsa_;
  std::vector<lc_ml_dsa_message> ml_dsa_messages_;
  std::vector<lc_slh_dsa_message> slh_dsa_messages_;
};

}  // namespace lanecrypt::service::test
