// SPDX-License-Identifier: Apache-2.0
#include "rsa/rsa_request.h"

#include "cpu/rsa/cpu_rsa.h"
#include "cpu/rsa/rsa_image.h"

namespace lanecrypt::runtime {

RsaRequest::RsaRequest(RsaJob whole, Callback on_end)
    : BatchRequest(whole.messages.size(), std::move(on_end)), job(std::move(whole)) {
  kinds_.reserve(job.keys.size());
  for (const RsaKeyPointer &key : job.keys) kinds_.push_back(rsa_kind(*key, job.operation));
}

Status RsaRequest::run_on_cpu(uint32_t message) {
  const RsaItem what = item(message);
  return cpu::run_rsa(*what.key, job.operation, what.in, what.out);
}

void RsaRequest::prepare_for_device() {
  if (job.operation == LC_RSA_PRIVATE && job.keys.size() == 1 && kinds_.front() != 0)
    cpu::make_rsa_base_ahead(*job.keys.front());
}

}  // namespace lanecrypt::runtime
